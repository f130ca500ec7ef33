/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fibers STACKS BYTES STATES FIBERS THREADS: C coroutines, switched by hand, that run Lua.
 *
 * STACKS says where their stacks of BYTES each lie: "mapped", each in a mapping of its own;
 * "region", side by side in one; "heap", by malloc() in the heap; "static", in an array.
 *
 * STATES: "own", each fiber has a VM and enters it by lua_pcall; "bare", by lua_call, without
 * protection; "thread", all run threads of one VM, by lua_pcall; "resumed", by lua_resume.
 *
 * Each of THREADS threads (1: only the main one) switches between its share of the FIBERS; more
 * than one thread requires that each fiber has a VM. The last fiber of a thread runs no Lua at all.
 *
 * The names of all functions of fiber 3 begin with "f3_". While it runs, its thread is called "f3",
 * or "idle" if the fiber runs no Lua; while fibers are being switched, "switch".
 *
 * It prints "ready", waits for a line, works for WORK_SECONDS of CPU time, prints "done" and waits
 * for a line.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>

#include <malloc.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#define FIBERS_MAX   32
#define STACK_MAX    (1 << 18)
#define WORK_SECONDS 1.5 /* of CPU time */
#define PAGE         4096

/* @ stands for the fiber's number. */
static const char script[] =
	"local n, switch, burn, is_over = ...\n"
	"local function f@_work(n)\n"
	"	local x = 0\n"
	"	for i = 1, n do x = x + i % 7 end\n"
	"	return x\n"
	"end\n"
	"local function f@_inner(n) f@_work(n) switch() f@_work(n) return 1 end\n"
	"local function f@_burner(us) burn(us) switch() burn(us) return 1 end\n"
	"local function f@_generator()\n"
	"	while true do f@_inner(n) coroutine.yield() f@_burner(n / 100) end\n"
	"end\n"
	"local function f@_body()\n"
	"	local f@_next = coroutine.wrap(f@_generator)\n"
	"	while true do f@_next() f@_inner(n) coroutine.yield() end\n"
	"end\n"
	"local f@_coroutine = coroutine.create(f@_body)\n"
	"local function f@_outer(n)\n"
	"	f@_inner(n)\n"
	"	f@_burner(n / 100)\n"
	"	assert(coroutine.resume(f@_coroutine))\n"
	"	return 1\n"
	"end\n"
	"while not is_over() do f@_outer(n) end\n";

struct fiber {
	ucontext_t context;
	struct thread *thread;
	lua_State *L;
	int number;
	char name[16];
	bool is_idle, is_done; /* is_idle: without Lua */
};

struct thread {
	pthread_t id;
	ucontext_t context;
	struct fiber *fibers[FIBERS_MAX], *current;
	int count;
	unsigned random;
};

static struct fiber fibers[FIBERS_MAX];
static struct thread threads[FIBERS_MAX];
static __thread struct thread *here;
static int fiber_count, thread_count;
static size_t stack_bytes;
static const char *stacks, *states;
static char static_stacks[FIBERS_MAX * STACK_MAX] __attribute__((aligned(PAGE)));
static atomic_bool is_over;

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

static double thread_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void change_to(struct fiber *next)
{
	struct fiber *last = here->current;

	prctl(PR_SET_NAME, "switch");
	here->current = next;
	swapcontext(&last->context, &next->context);
	prctl(PR_SET_NAME, last->name);
}

/* Switches to any other fiber that has not ended. */
static void switch_fiber(void)
{
	struct fiber *next = here->current;

	for (int i = 0; i < 4 * here->count && (next == here->current || next->is_done); i++)
		next = here->fibers[rand_r(&here->random) % here->count];
	for (int i = 0; i < here->count && next->is_done; i++)
		next = here->fibers[i];
	if (next != here->current && !next->is_done)
		change_to(next);
}

static int l_switch(lua_State *L)
{
	(void)L;
	switch_fiber();
	return 0;
}

static void __attribute__((noinline)) burn_for(double us)
{
	double end = thread_us() + us;

	while (thread_us() < end)
		;
}

static int l_burn(lua_State *L)
{
	burn_for(lua_tonumber(L, 1));
	return 0;
}

static int l_is_over(lua_State *L)
{
	lua_pushboolean(L, is_over);
	return 1;
}

static void *allocate_stack(int number)
{
	static char *region;
	void *stack;

	if (!strcmp(stacks, "static"))
		return static_stacks + (size_t)number * stack_bytes;
	if (!strcmp(stacks, "heap"))
		return malloc(stack_bytes);
	if (!strcmp(stacks, "region")) {
		if (!region)
			region = mmap(NULL, FIBERS_MAX * stack_bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		return region + (size_t)number * stack_bytes;
	}
	stack = mmap(NULL, stack_bytes + 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack, PAGE, PROT_NONE);
	mprotect((char *)stack + PAGE + stack_bytes, PAGE, PROT_NONE);
	return (char *)stack + PAGE;
}

static void load_script(struct fiber *fiber)
{
	char text[4 * sizeof(script)], name[16], *to = text;

	for (const char *from = script; *from; from++) {
		if (*from == '@')
			to += sprintf(to, "%d", fiber->number);
		else
			*to++ = *from;
	}
	snprintf(name, sizeof(name), "=f%d", fiber->number);
	if (luaL_loadbuffer(fiber->L, text, (size_t)(to - text), name)) {
		fprintf(stderr, "%s\n", lua_tostring(fiber->L, -1));
		exit(1);
	}
	lua_pushnumber(fiber->L, 1000 + 500 * fiber->number);
	lua_pushcfunction(fiber->L, l_switch);
	lua_pushcfunction(fiber->L, l_burn);
	lua_pushcfunction(fiber->L, l_is_over);
}

static int run_lua(struct fiber *fiber)
{
	load_script(fiber);
	if (!strcmp(states, "bare")) {
		lua_call(fiber->L, 4, 0);
		return 0;
	}
	if (strcmp(states, "resumed"))
		return lua_pcall(fiber->L, 4, 0, 0);
#if LUA_VERSION_NUM >= 504
	return lua_resume(fiber->L, NULL, 4, &(int){0});
#elif LUA_VERSION_NUM >= 502
	return lua_resume(fiber->L, NULL, 4);
#else
	return lua_resume(fiber->L, 4);
#endif
}

static void run_fiber(int number)
{
	struct fiber *fiber = &fibers[number];

	prctl(PR_SET_NAME, fiber->name);
	if (fiber->is_idle) {
		while (!is_over) {
			burn_for(40);
			switch_fiber();
		}
	} else if (run_lua(fiber)) {
		fprintf(stderr, "%s\n", lua_tostring(fiber->L, -1));
		exit(1);
	}
	fiber->is_done = true;
	switch_fiber();
	setcontext(&fiber->thread->context);
}

static lua_State *new_state(lua_State *shared)
{
	lua_State *L;

	if (shared) {
		L = lua_newthread(shared);
		luaL_ref(shared, LUA_REGISTRYINDEX);
		return L;
	}
	L = luaL_newstate();
	luaL_openlibs(L);
	return L;
}

static void prepare(void)
{
	bool is_shared = !strcmp(states, "thread") || !strcmp(states, "resumed");
	lua_State *shared = is_shared ? new_state(NULL) : NULL;

	for (int i = 0; i < fiber_count; i++) {
		struct thread *thread = &threads[i % thread_count];
		struct fiber *fiber = &fibers[i];

		fiber->number = i;
		fiber->thread = thread;
		fiber->is_idle = i >= fiber_count - thread_count;
		snprintf(fiber->name, sizeof(fiber->name), fiber->is_idle ? "idle" : "f%d", i);
		fiber->L = fiber->is_idle ? NULL : new_state(shared);
		thread->fibers[thread->count++] = fiber;
	}
	/* The stacks of fibers without Lua lie below others, for which they could be mistaken. */
	for (int i = fiber_count; i-- > 0;) {
		struct fiber *fiber = &fibers[i];

		getcontext(&fiber->context);
		fiber->context.uc_stack.ss_sp = allocate_stack(fiber_count - 1 - i);
		fiber->context.uc_stack.ss_size = stack_bytes;
		makecontext(&fiber->context, (void (*)(void))run_fiber, 1, i);
	}
}

static void *run_thread(void *thread)
{
	here = thread;
	here->random = (unsigned)(here - threads) + 1;
	here->current = here->fibers[0];
	swapcontext(&here->context, &here->current->context);
	return NULL;
}

/* CPU time, so that a busy machine changes nothing in what a recording has to show. */
static void *end_soon(void *nothing)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	struct timespec begin, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do {
		nanosleep(&nap, NULL);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (seconds_between(&begin, &now) < WORK_SECONDS);
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
	pthread_t end;

	if (argc != 6)
		return 2;
	stacks = argv[1];
	stack_bytes = (size_t)atol(argv[2]);
	states = argv[3];
	fiber_count = atoi(argv[4]);
	thread_count = atoi(argv[5]);
	if (stack_bytes > STACK_MAX || fiber_count > FIBERS_MAX || thread_count >= fiber_count)
		return 2;
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	prepare();
	puts("ready");
	fflush(stdout);
	wait_for_line();
	pthread_create(&end, NULL, end_soon, NULL);
	for (int i = 1; i < thread_count; i++)
		pthread_create(&threads[i].id, NULL, run_thread, &threads[i]);
	run_thread(&threads[0]);
	for (int i = 1; i < thread_count; i++)
		pthread_join(threads[i].id, NULL);
	puts("done");
	fflush(stdout);
	wait_for_line();
	return 0;
}
