/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bindings: binds functions to Lua as libraries for C++ and Rust do, which make closures of one C
 * function and keep what it calls in an upvalue. A script works forever, three quarters of the time
 * in world.spawn() and the rest in world.move().
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char script[] = "local world = world\n"
			     "local function tick()\n"
			     "  world.spawn(3000)\n"
			     "  world.move(1000)\n"
			     "end\n"
			     "while true do tick() end\n";

static double spawn(double rounds)
{
	volatile double sum = 0;

	for (int i = 0; i < rounds; i++)
		sum = sum + i * 0.5;
	return sum;
}

static double move(double rounds)
{
	volatile double sum = 1;

	for (int i = 0; i < rounds; i++)
		sum = sum + i * 0.5;
	return sum;
}

static double (*const functions[])(double) = {spawn, move};

static int trampoline(lua_State *L)
{
	lua_pushnumber(L, functions[lua_tointeger(L, lua_upvalueindex(1))](lua_tonumber(L, 1)));
	return 1;
}

/* Puts it into the table on top of the stack. */
static void bind(lua_State *L, const char *name, int function)
{
	lua_pushinteger(L, function);
	lua_pushcclosure(L, trampoline, 1);
	lua_setfield(L, -2, name);
}

int main(void)
{
	lua_State *L = luaL_newstate();

	lua_newtable(L);
	bind(L, "spawn", 0);
	bind(L, "move", 1);
	lua_setglobal(L, "world");
	return luaL_loadbuffer(L, script, sizeof(script) - 1, "=bindings.lua") ||
	       lua_pcall(L, 0, 0, 0);
}
