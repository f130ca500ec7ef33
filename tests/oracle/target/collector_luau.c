/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For a program that embeds a Luau whose collector says when it runs
 * (tests/programs/host_luau.cpp): adds the functions that collector.lua calls.
 */
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector.h"

volatile struct truth published __attribute__((aligned(4096)));

/* collectgarbage() of Lua, as far as the script needs it. */
static int collect(lua_State *L)
{
	const char *what = luaL_optstring(L, 1, "collect");

	if (!strcmp(what, "count"))
		lua_gc(L, LUA_GCCOUNT, 0);
	else if (!strcmp(what, "step"))
		lua_gc(L, LUA_GCSTEP, 0);
	else
		lua_gc(L, LUA_GCCOLLECT, 0);
	return 0;
}

/* It allocates and frees as the collector does. */
static void work(void *userdata)
{
	(void)userdata;
	for (int i = 0; i < 20; i++) {
		volatile char *block = malloc(100 + i * 16);

		if (block)
			*block = 1;
		free((void *)block);
	}
}

/* destroyed(): makes a value whose destructor works. */
static int destroyed(lua_State *L)
{
	lua_newuserdatadtor(L, 1, work);
	return 1;
}

/* ready(): writes what workload.c expects. */
static int ready(lua_State *L)
{
	(void)L;
	printf("%lx %d\n", (unsigned long)&published, getpid());
	fflush(stdout);
	return 0;
}

void collector_begins(lua_State *L)
{
	lua_pushcfunction(L, ready, "ready");
	lua_setglobal(L, "ready");
	lua_pushcfunction(L, collect, "collectgarbage");
	lua_setglobal(L, "collectgarbage");
	lua_pushcfunction(L, destroyed, "destroyed");
	lua_setglobal(L, "destroyed");
	/* The write makes the kernel map the page, without which BPF cannot read it. */
	published.magic = TRUTH_MAGIC;
}
