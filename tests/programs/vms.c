/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vms MODE THREADS: THREADS threads, named t0, t1 .., that run Lua side by side. The names of all
 * functions of thread 3 begin with "t3_".
 *
 * MODE: "own", each has a VM; "closing", each makes and closes VMs all the time; "pool", they take
 * turns with one VM, by lua_pcall, "bare", the same by lua_call, without protection, and spin while
 * they wait, "covering", the same in a frame that keeps what the last turn left on the stack;
 * "forking", as "own", while the main thread keeps forking children, which go on with its VM, in
 * functions whose names begin with "child_".
 *
 * It prints "ready", waits for a line, works for WORK_SECONDS of CPU time, prints "TIMES us us .."
 * of CPU time, thread by thread, and waits for a line.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define THREADS_MAX  16
#define WORK_SECONDS 4 /* of all threads together */

/* @ stands for what its functions' names begin with. */
static const char script[] =
	"function @turn(n)\n"
	"	local function @work(n)\n"
	"		local x = 0\n"
	"		for i = 1, n do x = x + i % 7 end\n"
	"		return x\n"
	"	end\n"
	"	local @next = coroutine.wrap(function() while true do @work(n) coroutine.yield() end end)\n"
	"	@work(n)\n"
	"	@next()\n"
	"	return 1\n"
	"end\n";

static double times_us[THREADS_MAX];
static lua_State *shared;
static atomic_flag is_taken = ATOMIC_FLAG_INIT;
static atomic_bool is_over;
static const char *mode;

/* CPU time of a thread, or of the process. */
static double clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fail(lua_State *L)
{
	fprintf(stderr, "%s\n", lua_tostring(L, -1));
	exit(1);
}

static void load_script(lua_State *L, const char *prefix)
{
	char text[4 * sizeof(script)], name[16], *to = text;

	for (const char *from = script; *from; from++) {
		if (*from == '@')
			to += sprintf(to, "%s", prefix);
		else
			*to++ = *from;
	}
	snprintf(name, sizeof(name), "=%s", prefix);
	if (luaL_loadbuffer(L, text, (size_t)(to - text), name) || lua_pcall(L, 0, 0, 0))
		fail(L);
}

static lua_State *new_state(const char *prefix)
{
	lua_State *L = luaL_newstate();

	luaL_openlibs(L);
	load_script(L, prefix);
	return L;
}

static void take_turn(lua_State *L, const char *prefix, int rounds)
{
	char name[24];

	snprintf(name, sizeof(name), "%sturn", prefix);
	lua_getglobal(L, name);
	lua_pushnumber(L, rounds);
	if (!strcmp(mode, "bare") || !strcmp(mode, "covering"))
		lua_call(L, 1, 0);
	else if (lua_pcall(L, 1, 0, 0))
		fail(L);
}

/*
 * The frame has more room than it uses, as that of many a function, and so keeps what the last turn
 * left on the stack.
 */
static __attribute__((noinline)) char await_turn_covering(void)
{
	volatile char room[4096];

	do
		room[0] = 1;
	while (atomic_flag_test_and_set(&is_taken));
	return room[0];
}

static void await_turn(void)
{
	if (!strcmp(mode, "covering"))
		await_turn_covering();
	else
		while (atomic_flag_test_and_set(&is_taken))
			;
}

static void take_turns(const char *prefix)
{
	lua_State *L = shared ? shared : new_state(prefix);

	while (!is_over) {
		if (shared)
			await_turn();
		take_turn(L, prefix, 8000);
		if (shared)
			atomic_flag_clear(&is_taken);
		if (!strcmp(mode, "closing")) {
			lua_close(L);
			L = new_state(prefix);
		}
	}
}

static void *run_thread(void *time_us)
{
	int number = (int)((double *)time_us - times_us);
	char prefix[16], name[16];

	snprintf(name, sizeof(name), "t%d", number);
	snprintf(prefix, sizeof(prefix), "t%d_", number);
	prctl(PR_SET_NAME, name);
	take_turns(prefix);
	times_us[number] = clock_us(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* The child has copies of the VMs of all threads in its memory, and goes on with one. */
static void fork_children(void)
{
	lua_State *L = new_state("child_");

	while (!is_over) {
		pid_t child = fork();

		if (!child) {
			for (int i = 0; i < 200; i++)
				take_turn(L, "child_", 20000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void *end_soon(void *nothing)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	while (clock_us(CLOCK_PROCESS_CPUTIME_ID) < WORK_SECONDS * 1e6)
		nanosleep(&pause, NULL);
	is_over = true;
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
	pthread_t threads[THREADS_MAX], end;
	int count = argc == 3 ? atoi(argv[2]) : 0;
	char prefix[16];

	if (count < 1 || count > THREADS_MAX)
		return 2;
	mode = argv[1];
	if (!strcmp(mode, "pool") || !strcmp(mode, "bare") || !strcmp(mode, "covering"))
		shared = new_state("main_");
	for (int i = 0; shared && i < count; i++) {
		snprintf(prefix, sizeof(prefix), "t%d_", i);
		load_script(shared, prefix);
	}
	puts("ready");
	fflush(stdout);
	wait_for_line();
	pthread_create(&end, NULL, end_soon, NULL);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run_thread, &times_us[i]);
	if (!strcmp(mode, "forking"))
		fork_children();
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("TIMES");
	for (int i = 0; i < count; i++)
		printf(" %.0f", times_us[i]);
	puts(" ");
	fflush(stdout);
	wait_for_line();
	return 0;
}
