/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sleepers [NAME]: threads with a Lua each, named after the function that they run. "pcalled" waits
 * for a condition; "called" does so too, but the embedding program called it without protection;
 * "napping" sleeps deep in a C function; "held" waits with a coroutine that a C function made
 * yield; "busy" works. "parked" waits outside of its Lua, which has a coroutine that has yielded.
 * "none" has no Lua. The main thread prints "ready" and waits for a line. With NAME there is only
 * that thread.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char script[] = "function pcalled() wait() end\n"
			     "function called() wait() end\n"
			     "function napping() nap() end\n"
			     "function held()\n"
			     "	local co = coroutine.create(function() hold(print) end)\n"
			     "	assert(coroutine.resume(co))\n"
			     "	wait()\n"
			     "	return co\n"
			     "end\n"
			     "function parked()\n"
			     "	local function rest() coroutine.yield() return nil end\n"
			     "	kept = coroutine.create(function() rest() return nil end)\n"
			     "	assert(coroutine.resume(kept))\n"
			     "end\n"
			     "function busy()\n"
			     "	begin()\n"
			     "	local x = 0\n"
			     "	while true do x = x + 1 end\n"
			     "end\n";

static const char *const names[] = {"pcalled", "called", "napping", "held",
				    "busy",    "parked", "none"};

#define THREADS (sizeof(names) / sizeof(names[0]))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t begun;

static int wait_forever(lua_State *L)
{
	pthread_mutex_lock(&mutex);
	sem_post(&begun);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	return (int)(L == NULL);
}

/* More stack than any buffer of Lua's own lies between the system call and Lua. */
static int nap(lua_State *L)
{
	volatile char room[60000];

	memset((void *)room, 1, sizeof(room));
	sem_post(&begun);
	sleep(1000);
	return room[lua_gettop(L)] == 2;
}

/* Yields none of its arguments. */
static int hold(lua_State *L)
{
	return lua_yield(L, 0);
}

static int begin(lua_State *L)
{
	sem_post(&begun);
	return (int)(L == NULL);
}

static void run(lua_State *L, const char *name)
{
	int is_protected = strcmp(name, "called") != 0;

	luaL_openlibs(L);
	lua_register(L, "wait", wait_forever);
	lua_register(L, "nap", nap);
	lua_register(L, "hold", hold);
	lua_register(L, "begin", begin);
	if (luaL_loadbuffer(L, script, sizeof(script) - 1, "=sleepers") || lua_pcall(L, 0, 0, 0))
		exit(1);
	lua_getglobal(L, name);
	if (!is_protected)
		lua_call(L, 0, 0);
	else if (lua_pcall(L, 0, 0, 0))
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
	if (strcmp(name, "parked") != 0)
		exit(1);
}

static void *live(void *name)
{
	prctl(PR_SET_NAME, name);
	if (strcmp(name, "none") != 0)
		run(luaL_newstate(), name);
	sem_post(&begun);
	sleep(1000);
	return NULL;
}

int main(int argc, char **argv)
{
	size_t count = 0;
	pthread_t thread;

	sem_init(&begun, 0, 0);
	for (size_t i = 0; i < THREADS; i++) {
		if (argc > 1 && strcmp(names[i], argv[1]) != 0)
			continue;
		if (pthread_create(&thread, NULL, live, (void *)names[i]))
			return 1;
		count++;
	}
	while (count-- > 0)
		sem_wait(&begun);
	usleep(100000);
	puts("ready");
	fflush(stdout);
	return getchar() == EOF;
}
