/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host SCRIPT [ARGUMENT]...: a program that embeds Lua, of the version it is built with. It runs
 * the script on its main thread, with functions for the thread's CPU time, sleeping and more
 * (open_all()).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* CPU time of the calling thread. */
static double thread_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int host_cpu_us(lua_State *L)
{
	lua_pushnumber(L, thread_us());
	return 1;
}

static int host_sleep_us(lua_State *L)
{
	struct timespec time = {.tv_nsec = (long)(lua_tonumber(L, 1) * 1e3)};

	nanosleep(&time, NULL);
	return 0;
}

/* Keeps busy for some microseconds. */
static int burn(lua_State *L)
{
	double end = thread_us() + lua_tonumber(L, 1);

	while (thread_us() < end)
		;
	return 0;
}

/* Not static, so that they are in the symbol table whatever the compiler does to them. */
int host_burn(lua_State *L)
{
	return burn(L);
}

int host_burn_unnamed(lua_State *L)
{
	return burn(L) + 0 * (int)lua_gettop(L);
}

static void open_all(lua_State *L);

/* The main function of a thread. */
static void *run_file(void *path)
{
	lua_State *L = luaL_newstate();

	if (!L)
		return NULL;
	open_all(L);
	if (luaL_dofile(L, path))
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
	lua_close(L);
	return NULL;
}

/* Runs a file in a thread, with a Lua of its own, until it ends. */
static int host_in_thread(lua_State *L)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_file, (void *)lua_tostring(L, 1)))
		return luaL_error(L, "cannot start a thread");
	pthread_join(thread, NULL);
	return 0;
}

/* Runs another program in place of this one. */
static int host_become(lua_State *L)
{
	execlp(lua_tostring(L, 1), lua_tostring(L, 1), lua_tostring(L, 2), (char *)NULL);
	return luaL_error(L, "cannot run '%s'", lua_tostring(L, 1));
}

/* fork(): the id of the child, or 0 in the child, which does not outlive its parent. */
static int host_fork(lua_State *L)
{
	pid_t parent = getpid(), child = fork();

	if (!child && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	lua_pushnumber(L, child);
	return 1;
}

/* Waits until all children have ended. */
static int host_join(lua_State *L)
{
	while (wait(NULL) > 0)
		;
	return 0 * lua_gettop(L);
}

static void open_all(lua_State *L)
{
	luaL_openlibs(L);
	lua_pushcfunction(L, host_cpu_us);
	lua_setglobal(L, "cpu_us");
	lua_pushcfunction(L, host_sleep_us);
	lua_setglobal(L, "sleep_us");
	lua_pushcfunction(L, host_burn);
	lua_setglobal(L, "burn");
	lua_pushcfunction(L, host_burn_unnamed);
	lua_setglobal(L, "burn_unnamed");
	lua_pushcfunction(L, host_fork);
	lua_setglobal(L, "fork");
	lua_pushcfunction(L, host_join);
	lua_setglobal(L, "join");
	lua_pushcfunction(L, host_become);
	lua_setglobal(L, "become");
	lua_pushcfunction(L, host_in_thread);
	lua_setglobal(L, "in_thread");
}

int run_script(lua_State *L)
{
	char **words = (char **)lua_touserdata(L, 1);
	int count = 0;

	open_all(L);
	if (luaL_loadfile(L, words[0]))
		return lua_error(L);
	for (words++; words[count]; count++)
		lua_pushstring(L, words[count]);
	lua_call(L, count, 0);
	return 0;
}

int main(int argc, char **argv)
{
	lua_State *L = luaL_newstate();
	int failed;

	if (argc < 2 || !L)
		return 2;
	/* It sleeps as long as it asks for, not longer. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	lua_pushcfunction(L, run_script);
	lua_pushlightuserdata(L, argv + 1);
	failed = lua_pcall(L, 1, 0, 0);
	if (failed)
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
	lua_close(L);
	return failed != 0;
}
