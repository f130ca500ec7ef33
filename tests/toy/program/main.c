/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs toy programs, and Lua as the argument says, forever:
 *
 *	toy     a toy program alone: three of four parts of its work are in "hot"
 *	native  one whose function "warm" works as bytecode and, three times as long, as machine
 *code beside  a function of Lua and a toy program in turns nested  Lua that calls a toy program,
 *which calls a function of Lua
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

static const struct toy_function simple[] = {
	TOY_FUNCTION("whole", 10, "1112"),
	TOY_FUNCTION("hot", 20, "w"),
	TOY_FUNCTION("cold", 30, "w"),
};

static const struct toy_function native[] = {
	TOY_FUNCTION("whole", 10, "1"),
	TOY_FUNCTION("warm", 20, "wnnn"),
};

static const struct toy_function caller[] = {
	TOY_FUNCTION("whole", 10, "1h"),
	TOY_FUNCTION("hot", 20, "w"),
};

static const char script[] = "function work() for i = 1, 10000 do end end\n"
			     "function inner() work() end\n"
			     "function outer() work() toy() end\n";

static lua_State *lua;

static void call(const char *name)
{
	lua_getglobal(lua, name);
	if (lua_pcall(lua, 0, 0, 0))
		exit(1);
}

static void call_inner(void)
{
	call("inner");
}

static int run_toy(lua_State *state)
{
	(void)state;
	return toy_run(caller, call_inner) ? exit(1), 0 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "toy";

	lua = luaL_newstate();
	luaL_openlibs(lua);
	lua_register(lua, "toy", run_toy);
	if (luaL_loadbuffer(lua, script, sizeof(script) - 1, "@program.lua") ||
	    lua_pcall(lua, 0, 0, 0))
		return 1;
	for (;;) {
		if (!strcmp(what, "nested")) {
			call("outer");
			continue;
		}
		if (!strcmp(what, "beside"))
			call("work");
		if (toy_run(strcmp(what, "native") ? simple : native, NULL))
			return 1;
	}
}
