/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads MILLISECONDS: says "ready", waits for a line, then, for three seconds of CPU time, has
 * threads born and die all the time, two at a time, each with a Lua of its own that works for so
 * long; and one more thread without Lua that keeps busy. Then it says
 * "done TIME-OF-THREADS TIME-OF-BUSY-THREAD" in microseconds of CPU time and waits for another
 * line.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define WORK_US 3000000

static const char script[] = "local milliseconds = ...\n"
			     "local function brief()\n"
			     "	local x = 0\n"
			     "	for i = 1, 300 do x = x + i end\n"
			     "	return x\n"
			     "end\n"
			     "local start = os_cpu_us()\n"
			     "while os_cpu_us() - start < milliseconds * 1000 do brief() end\n";

static double milliseconds;
static _Atomic long script_us, busy_us;
static atomic_bool is_over;

static long read_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (long)(now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

static long cpu_us(void)
{
	return read_us(CLOCK_THREAD_CPUTIME_ID);
}

static int os_cpu_us(lua_State *L)
{
	lua_pushnumber(L, (double)cpu_us());
	return 1;
}

static void *run_lua(void *nothing)
{
	lua_State *L = luaL_newstate();

	prctl(PR_SET_NAME, "brief");
	lua_pushcfunction(L, os_cpu_us);
	lua_setglobal(L, "os_cpu_us");
	if (luaL_loadbuffer(L, script, sizeof(script) - 1, "=brief.lua"))
		exit(1);
	lua_pushnumber(L, milliseconds);
	lua_call(L, 1, 0);
	lua_close(L);
	script_us += cpu_us();
	return nothing;
}

static void *keep_busy(void *nothing)
{
	prctl(PR_SET_NAME, "busy");
	while (!is_over)
		;
	busy_us = cpu_us();
	return nothing;
}

static void wait_for_line(void)
{
	for (int c; (c = getchar()) != '\n';)
		if (c == EOF)
			exit(1);
}

int main(int argc, char **argv)
{
	pthread_t busy, threads[2];
	long end_us;

	if (argc != 2)
		return 2;
	milliseconds = strtod(argv[1], NULL);
	puts("ready");
	fflush(stdout);
	wait_for_line();
	end_us = read_us(CLOCK_PROCESS_CPUTIME_ID) + WORK_US;
	pthread_create(&busy, NULL, keep_busy, NULL);
	while (read_us(CLOCK_PROCESS_CPUTIME_ID) < end_us) {
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, run_lua, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	is_over = true;
	pthread_join(busy, NULL);
	printf("done %ld %ld\n", script_us, busy_us);
	fflush(stdout);
	wait_for_line();
	return 0;
}
