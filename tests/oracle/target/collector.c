/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that embeds a Lua whose collector says when it runs: `collector SCRIPT ARGUMENT`.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector.h"

volatile struct truth published __attribute__((aligned(4096)));

/*
 * Work in C, for a finalizer that is no Lua function: it allocates and frees as the collector does.
 */
static int work(lua_State *L)
{
	(void)L;
	for (int i = 0; i < 20; i++) {
		volatile char *block = malloc(100 + i * 16);

		if (block)
			*block = 1;
		free((void *)block);
	}
	return 0;
}

/*
 * ready(): writes the address of what is published and the thread's id, as workload.c expects it.
 */
static int ready(lua_State *L)
{
	(void)L;
	printf("%lx %d\n", (unsigned long)&published, getpid());
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	lua_State *L = argc == 3 ? luaL_newstate() : NULL;

	if (!L)
		return 2;
	luaL_openlibs(L);
	lua_pushcfunction(L, work);
	lua_setglobal(L, "work");
	lua_pushcfunction(L, ready);
	lua_setglobal(L, "ready");
	if (luaL_loadfile(L, argv[1])) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return 1;
	}
	/* The write makes the kernel map the page, without which BPF cannot read it. */
	published.magic = TRUTH_MAGIC;
	lua_pushstring(L, argv[2]);
	if (lua_pcall(L, 1, 0, 0))
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
	return 1; /* the script does not end */
}
