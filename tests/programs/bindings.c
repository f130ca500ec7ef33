/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bindings: binds functions to Lua as libraries for C++ and Rust do, which make closures of one C
 * function and keep what it calls in an upvalue: world.spawn() and world.move(), in a global table,
 * and the methods unit:heal() and unit:hurt(), in a table that only the script has. The script
 * works forever: three eighths of the time in spawn() and heal() each, one in move() and hurt()
 * each.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char script[] = "local world, unit = world, ...\n"
			     "local function tick()\n"
			     "  world.spawn(3000)\n"
			     "  world.move(1000)\n"
			     "  unit:heal(3000)\n"
			     "  unit:hurt(1000)\n"
			     "end\n"
			     "while true do tick() end\n";

static double count_up(double rounds)
{
	volatile double sum = 0;

	for (int i = 0; i < rounds; i++)
		sum = sum + i * 0.5;
	return sum;
}

static double count_down(double rounds)
{
	volatile double sum = 0;

	for (int i = 0; i < rounds; i++)
		sum = sum - i * 0.5;
	return sum;
}

static double (*const functions[])(double) = {count_up, count_down};

static int call_function(lua_State *L)
{
	lua_pushnumber(L, functions[lua_tointeger(L, lua_upvalueindex(1))](lua_tonumber(L, 1)));
	return 1;
}

static int call_method(lua_State *L)
{
	lua_pushnumber(L, functions[lua_tointeger(L, lua_upvalueindex(1))](lua_tonumber(L, 2)));
	return 1;
}

/* Puts it into the table on top of the stack. */
static void bind(lua_State *L, lua_CFunction trampoline, const char *name, int function)
{
	lua_pushinteger(L, function);
	lua_pushcclosure(L, trampoline, 1);
	lua_setfield(L, -2, name);
}

int main(void)
{
	lua_State *L = luaL_newstate();

	lua_newtable(L);
	bind(L, call_function, "spawn", 0);
	bind(L, call_function, "move", 1);
	lua_setglobal(L, "world");
	if (luaL_loadbuffer(L, script, sizeof(script) - 1, "=bindings.lua"))
		return 1;
	lua_newtable(L);
	bind(L, call_method, "heal", 0);
	bind(L, call_method, "hurt", 1);
	return lua_pcall(L, 1, 0, 0);
}
