/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loader MODE LIBRARY CHUNK [LIBRARY CHUNK]...: opens libraries that hold a Lua, each with local
 * symbols (RTLD_LOCAL), so that one process runs several. MODE says when and how their chunks run:
 *   turns    one after the other, on the main thread, over and over
 *   nested   the second inside a C function that the first calls, over and over
 *   threads  each on a thread of its own
 *   late     the first immediately, each further one half a second later, then as turns
 *   plugin   likewise, but the first after one second and a half: luaspy waits for one second
 * Chunks return soon, and are called again.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LUA_MAX 4

typedef struct lua_State lua_State;

struct lua {
	const char *chunk;
	lua_State *state;
	lua_State *(*newstate)(void);
	void (*openlibs)(lua_State *L);
	int (*loadstring)(lua_State *L, const char *text);
	int (*loadbufferx)(lua_State *L, const char *text, size_t size, const char *name,
			   const char *mode);
	int (*pcall_5_1)(lua_State *L, int arguments, int results, int handler);
	int (*pcallk)(lua_State *L, int arguments, int results, int handler, long context,
		      void *continuation);
	void (*pushcclosure)(lua_State *L, int (*function)(lua_State *L), int upvalues);
	void (*setfield_5_1)(lua_State *L, int index, const char *name);
	void (*setglobal)(lua_State *L, const char *name);
};

static struct lua luas[LUA_MAX];
static int lua_count;

static void call(struct lua *lua)
{
	int failed;

	if (lua->loadbufferx)
		failed = lua->loadbufferx(lua->state, lua->chunk, strlen(lua->chunk), lua->chunk,
					  NULL);
	else
		failed = lua->loadstring(lua->state, lua->chunk);
	if (!failed)
		failed = lua->pcallk ? lua->pcallk(lua->state, 0, 0, 0, 0, NULL)
				     : lua->pcall_5_1(lua->state, 0, 0, 0);
	if (failed) {
		fprintf(stderr, "cannot run '%s'\n", lua->chunk);
		exit(1);
	}
}

int call_second(lua_State *L)
{
	(void)L;
	call(&luas[1]);
	return 0;
}

static void open_lua(const char *library, const char *chunk)
{
	struct lua *lua = &luas[lua_count];
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	lua->chunk = chunk;
	*(void **)&lua->newstate = dlsym(handle, "luaL_newstate");
	*(void **)&lua->openlibs = dlsym(handle, "luaL_openlibs");
	*(void **)&lua->loadstring = dlsym(handle, "luaL_loadstring");
	*(void **)&lua->loadbufferx = dlsym(handle, "luaL_loadbufferx");
	*(void **)&lua->pcall_5_1 = dlsym(handle, "lua_pcall");
	*(void **)&lua->pcallk = dlsym(handle, "lua_pcallk");
	*(void **)&lua->pushcclosure = dlsym(handle, "lua_pushcclosure");
	*(void **)&lua->setfield_5_1 = dlsym(handle, "lua_setfield");
	*(void **)&lua->setglobal = dlsym(handle, "lua_setglobal");
	lua->state = lua->newstate();
	lua->openlibs(lua->state);
	lua->pushcclosure(lua->state, call_second, 0);
	if (lua->setglobal)
		lua->setglobal(lua->state, "call_second");
	else
		lua->setfield_5_1(lua->state, -10002, "call_second"); /* LUA_GLOBALSINDEX */
	lua_count++;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *run_forever(void *lua)
{
	for (;;)
		call(lua);
	return NULL;
}

/* Opens the libraries that are due; argv[0] and so on describe each by two words. */
static void open_due(int argc, char **argv, int late, double start)
{
	while (lua_count * 2 + 1 < argc &&
	       (lua_count >= late ? now() - start > 0.5 * (lua_count - late + 1) : 1))
		open_lua(argv[lua_count * 2], argv[lua_count * 2 + 1]);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[1] : "";
	int late = !strcmp(mode, "late") ? 1 : !strcmp(mode, "plugin") ? 0 : LUA_MAX;
	double start = now() + (late ? 0 : 1);
	pthread_t thread;

	if (argc < 4 || argc > 2 + 2 * LUA_MAX)
		return 2;
	open_due(argc - 2, argv + 2, late, start);
	puts("up");
	fflush(stdout);
	for (int i = 1; !strcmp(mode, "threads") && i < lua_count; i++)
		pthread_create(&thread, NULL, run_forever, &luas[i]);
	if (!strcmp(mode, "threads"))
		run_forever(&luas[0]);
	for (;;) {
		open_due(argc - 2, argv + 2, late, start);
		for (int i = 0; i < (strcmp(mode, "nested") ? lua_count : 1); i++)
			call(&luas[i]);
	}
}
