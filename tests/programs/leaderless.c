/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaderless SCRIPT: runs the script in a second thread. The first one waits for a line and ends,
 * which does not end the process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static void *run(void *path)
{
	lua_State *L = luaL_newstate();

	luaL_openlibs(L);
	if (luaL_dofile(L, path))
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
	lua_close(L);
	/* As a process does that ends with its first thread. */
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2 || pthread_create(&thread, NULL, run, argv[1]))
		return 2;
	while (getchar() != '\n')
		if (feof(stdin))
			break;
	pthread_exit(NULL);
}
