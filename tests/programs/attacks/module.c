/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library for Lua with one function, which takes a millisecond; it returns nothing to Lua. */
#include <time.h>

struct lua_State;

int luaopen_module(struct lua_State *state);

int luaopen_module(struct lua_State *state)
{
	clock_t stop = clock() + CLOCKS_PER_SEC / 1000;

	(void)state;
	while (clock() < stop)
		;
	return 0;
}
