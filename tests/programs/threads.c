/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads MILLISECONDS: prints "ready", waits for a line, then, for three seconds of CPU time,
 * keeps starting threads, two at a time, each with a Lua of its own that works for MILLISECONDS,
 * the same time in each of four functions;
 * one more thread, without Lua, keeps busy. Then it prints "done TIME-OF-THREADS
 * TIME-OF-BUSY-THREAD" in microseconds of CPU time and waits for another line.
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

/* Counts rounds, because reading a CPU clock would make the kernel's count exact each time. */
static const char script[] = "local rounds = ...\n"
			     "local function brief()\n"
			     "	local x = 0\n"
			     "	for i = 1, 300 do x = x + i end\n"
			     "	return x\n"
			     "end\n"
			     "local function first() for i = 1, rounds / 4 do brief() end end\n"
			     "local function second() for i = 1, rounds / 4 do brief() end end\n"
			     "local function third() for i = 1, rounds / 4 do brief() end end\n"
			     "local function fourth() for i = 1, rounds / 4 do brief() end end\n"
			     "first() second() third() fourth()\n";

static double rounds; /* that take as many milliseconds as requested */
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

static void run_script(double rounds_wanted)
{
	lua_State *L = luaL_newstate();

	if (luaL_loadbuffer(L, script, sizeof(script) - 1, "=brief.lua"))
		exit(1);
	lua_pushnumber(L, rounds_wanted);
	lua_call(L, 1, 0);
	lua_close(L);
}

/* How many rounds take a millisecond. */
static double measure_rounds(void)
{
	long begin_us;

	run_script(1000);
	begin_us = cpu_us();
	run_script(10000);
	return 10000.0 * 1000 / (double)(cpu_us() - begin_us);
}

static void *run_lua(void *nothing)
{
	prctl(PR_SET_NAME, "brief");
	run_script(rounds);
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
	rounds = strtod(argv[1], NULL) * measure_rounds();
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
