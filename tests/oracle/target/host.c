/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that embeds Lua: `host SCRIPT ARGUMENT` runs it without a protected call; with
 * ON_THREAD on a thread of its own, with WITH_MODULE it has the module `oracle` built in, with
 * WITH_FETCHES it says where its luaV_execute publishes the instruction that it fetches.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>

#ifdef WITH_FETCHES
#include <unistd.h>

extern const void *volatile fetched[2];
#endif

#ifdef WITH_MODULE
int luaopen_oracle(lua_State *L);

static void add_module(lua_State *L)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "preload");
	lua_pushcfunction(L, luaopen_oracle);
	lua_setfield(L, -2, "oracle");
	lua_pop(L, 2);
}
#endif

static int run(const char *script, const char *argument)
{
	lua_State *L = luaL_newstate();

	if (!L)
		return 2;
	luaL_openlibs(L);
#ifdef WITH_MODULE
	add_module(L);
#endif
	if (luaL_loadfile(L, script)) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return 1;
	}
#ifdef WITH_FETCHES
	printf("%p %d\n", (void *)fetched, getpid());
	fflush(stdout);
#endif
	lua_pushstring(L, argument);
	lua_call(L, 1, 0);
	lua_close(L);
	return 0;
}

#ifdef ON_THREAD
static void *run_on_thread(void *arguments)
{
	char **argv = arguments;

	run(argv[1], argv[2]);
	return NULL;
}
#endif

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
#ifdef ON_THREAD
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_on_thread, argv))
		return 2;
	pthread_join(thread, NULL);
	return 1; /* the script does not end */
#else
	return run(argv[1], argv[2]);
#endif
}
