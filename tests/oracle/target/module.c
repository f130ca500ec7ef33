/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Lua module `oracle`, with which a script publishes its own stack (truth.h). Every function of
 * the script takes part: the caller says what it calls, the callee that it is there, and so on for
 * each way in which a stack can change. Compiled for each release.
 */
#ifdef WITH_LUAU
#include <lua.h>
#include <lualib.h>
#else
#include <lauxlib.h>
#include <lua.h>
#endif
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../truth.h"

#ifdef WITH_LUAU
/* Luau's counterparts, under Lua's names. */
#undef lua_pushcfunction
#define lua_pushcfunction(L, function) lua_pushcclosurek(L, function, NULL, 0, NULL)
#define LUA_VERSION_NUM                502 /* of lua_resume() and of calls; it has no hooks */

static int take_reference(lua_State *L)
{
	int reference = lua_ref(L, -1);

	lua_pop(L, 1);
	return reference;
}

#define luaL_ref(L, table)              take_reference(L)
#define luaL_unref(L, table, reference) lua_unref(L, reference)
#endif

#define SEGMENT_MAX 48
#define ADOPTED_MAX 8

enum helper {
	HELPER_NONE,
	HELPER_HERE,
	HELPER_CALLS,
	HELPER_LEAVES,
	HELPER_TAILS,
	HELPER_THROWS,
	HELPER_RESUMES,
	HELPER_YIELDS,
	HELPER_SEGMENT,
	HELPER_ADOPT,
	HELPER_HOOK,
};

/* The part of the stack that belongs to one coroutine; kept here while it is suspended. */
struct segment {
	uint32_t base;       /* its first place in the whole stack, when it runs */
	uint32_t is_by_lua;  /* the word below it is coroutine.resume or a wrapped function */
	uint32_t count;      /* of words */
	uint64_t yield_word; /* the C function that it is suspended in; 0: not started */
	uint64_t words[SEGMENT_MAX];
};

static struct truth truth __attribute__((aligned(4096)));

/* Coroutines that nothing but C knows. */
static struct {
	lua_State *thread;
	struct segment *segment;
	int references[2];
} adopted[ADOPTED_MAX];
static int adopted_count;

#ifndef WITH_LUAU
static int hook_function; /* reference */
static uint64_t hook_word;
#endif

static void publish(struct truth_state state)
{
	uint64_t word;

	memcpy(&word, &state, sizeof(word));
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint64_t *)&truth.state = word;
	atomic_signal_fence(memory_order_seq_cst);
}

static void begin_helper(enum helper helper)
{
	struct truth_state state = truth.state;

	state.busy = helper;
	publish(state);
}

static void end_helper(enum helper helper)
{
	struct truth_state state = truth.state;

	state.busy = HELPER_NONE;
	state.last = helper;
	publish(state);
}

static void give_up(const char *why)
{
	fprintf(stderr, "oracle: %s\n", why);
	abort();
}

/* ---- what may come next: collected here, and published by one store */

static struct {
	uint32_t alternatives;
	uint32_t pushed;
} next;

static void plan(void)
{
	if (truth.state.alternatives)
		give_up("a transition begins before the last one has ended");
	next.alternatives = 0;
	next.pushed = 0;
}

static uint32_t push_word(uint64_t word)
{
	if (next.pushed >= TRUTH_PUSHED_MAX)
		give_up("too many words");
	truth.pushed[next.pushed] = word;
	return next.pushed++;
}

static void may_be(uint32_t keep, uint32_t pushed, uint32_t pushed_count)
{
	struct truth_alternative *alternative = &truth.alternatives[next.alternatives];

	if (next.alternatives >= TRUTH_ALTERNATIVES_MAX || keep > truth.state.depth ||
	    keep + pushed_count > TRUTH_DEPTH_MAX)
		give_up("an impossible transition");
	alternative->keep = keep;
	alternative->pushed = pushed;
	alternative->pushed_count = pushed_count;
	next.alternatives++;
}

static void announce(enum helper helper)
{
	struct truth_state state = truth.state;

	state.alternatives = next.alternatives;
	state.busy = HELPER_NONE;
	if (helper)
		state.last = helper;
	publish(state);
}

static uint64_t top_of(uint32_t chosen)
{
	const struct truth_alternative *alternative = &truth.alternatives[chosen - 1];

	if (!chosen)
		return truth.stack[truth.state.depth - 1];
	if (alternative->pushed_count)
		return truth.pushed[alternative->pushed + alternative->pushed_count - 1];
	return truth.stack[alternative->keep - 1];
}

/* The transition has ended in the function `word`. */
static void settle(uint64_t word, enum helper helper)
{
	struct truth_state state = truth.state;
	uint32_t chosen = state.alternatives;
	const struct truth_alternative *alternative;

	while (chosen && top_of(chosen) != word)
		chosen--;
	if (!chosen && top_of(0) != word)
		give_up("the script is not where it said it would be");
	state.busy = helper;
	state.chosen = chosen;
	if (!chosen)
		state.alternatives = 0;
	publish(state);
	if (!chosen)
		return;
	alternative = &truth.alternatives[chosen - 1];
	memcpy(truth.stack + alternative->keep, truth.pushed + alternative->pushed,
	       alternative->pushed_count * sizeof(*truth.stack));
	state.depth = alternative->keep + alternative->pushed_count;
	state.alternatives = 0;
	state.chosen = 0;
	publish(state);
}

static void plan_leaving(uint32_t count)
{
	plan();
	for (uint32_t i = 1; i <= count; i++)
		may_be(truth.state.depth - i, 0, 0);
}

/* `resumer`: the C function that calls lua_resume, if Lua called it for that; else 0. */
static void plan_resuming(struct segment *segment, uint64_t resumer)
{
	uint32_t depth = truth.state.depth, by_lua = !!resumer;

	plan();
	segment->is_by_lua = by_lua;
	segment->base = depth + by_lua;
	if (by_lua) {
		push_word(resumer);
		may_be(depth, 0, 1);
	}
	for (uint32_t i = 0; i < segment->count; i++)
		push_word(segment->words[i]);
	if (segment->yield_word) {
		push_word(segment->yield_word);
		may_be(depth, 0, by_lua + segment->count + 1);
	}
	may_be(depth, 0, by_lua + segment->count);
}

/* ---- what the script calls */

#ifdef WITH_LUAJIT
/* lua_tocfunction() tells nothing of builtins: GCfuncC, lj_obj.h, has their code and number. */
static uint64_t c_function_at(lua_State *L, int index)
{
	const unsigned char *object = lua_topointer(L, index);
	uint64_t code;

	if (!lua_iscfunction(L, index))
		return 0;
	memcpy(&code, object + CODE_AT, sizeof(code));
	return object[NUMBER_AT] > 1 ? code | (uint64_t)object[NUMBER_AT] << 56 : code;
}
#else
static uint64_t c_function_at(lua_State *L, int index)
{
	return (uint64_t)(uintptr_t)lua_tocfunction(L, index);
}
#endif

static uint64_t word_at(lua_State *L, int index)
{
	uint64_t function = c_function_at(L, index);

	return function ? function : (uint64_t)lua_tonumber(L, index);
}

/* here(function): the transition has ended in it. */
static int l_here(lua_State *L)
{
	settle(word_at(L, 1), HELPER_HERE);
	end_helper(HELPER_HERE);
	return 0;
}

/* calls(function, ...): they are going to be called, each by the one before. */
static int l_calls(lua_State *L)
{
	int count = lua_gettop(L);

	begin_helper(HELPER_CALLS);
	plan();
	for (int i = 1; i <= count; i++) {
		push_word(word_at(L, i));
		may_be(truth.state.depth, 0, i);
	}
	announce(HELPER_CALLS);
	return 0;
}

/* leaves(n): the topmost n functions are going to return, one after the other. */
static int l_leaves(lua_State *L)
{
	uint32_t count = lua_tonumber(L, 1);

	begin_helper(HELPER_LEAVES);
	plan_leaving(count);
	announce(HELPER_LEAVES);
	return 0;
}

/*
 * tails(function): it is going to take the place of the topmost. Up to 5.3 it is called first and
 * moved down then (lvm.c, OP_TAILCALL).
 */
static int l_tails(lua_State *L)
{
	begin_helper(HELPER_TAILS);
	plan();
	push_word(word_at(L, 1));
	if (LUA_VERSION_NUM < 504)
		may_be(truth.state.depth, 0, 1);
	may_be(truth.state.depth - 1, 0, 1);
	announce(HELPER_TAILS);
	return 0;
}

/*
 * throws(n, thrower): an error is going to remove the topmost n functions, the last of which is the
 * C function that catches it. `thrower`, if any, is the C function that throws; true: this is the
 * handler, which returns to what has thrown.
 */
static int l_throws(lua_State *L)
{
	uint32_t count = lua_tonumber(L, 1);

	begin_helper(HELPER_THROWS);
	plan();
	if (lua_isboolean(L, 2)) {
		may_be(truth.state.depth - 1, 0, 0);
	} else if (lua_gettop(L) > 1) {
		push_word(word_at(L, 2));
		may_be(truth.state.depth, 0, 1);
	}
	may_be(truth.state.depth - count + 1, 0, 0);
	may_be(truth.state.depth - count, 0, 0);
	announce(HELPER_THROWS);
	return 0;
}

/* resumes(segment, resumer) */
static int l_resumes(lua_State *L)
{
	begin_helper(HELPER_RESUMES);
	plan_resuming(lua_touserdata(L, 1), word_at(L, 2));
	announce(HELPER_RESUMES);
	return 0;
}

/* yields(segment, yielder): the coroutine is going to be suspended. */
static int l_yields(lua_State *L)
{
	struct segment *segment = lua_touserdata(L, 1);
	uint32_t depth = truth.state.depth;

	begin_helper(HELPER_YIELDS);
	plan();
	segment->count = depth - segment->base;
	if (segment->count > SEGMENT_MAX)
		give_up("a coroutine's stack is too deep");
	memcpy(segment->words, truth.stack + segment->base, segment->count * sizeof(uint64_t));
	segment->yield_word = word_at(L, 2);
	push_word(segment->yield_word);
	may_be(depth, 0, 1);
	may_be(segment->base, 0, 0);
	if (segment->is_by_lua)
		may_be(segment->base - 1, 0, 0);
	announce(HELPER_YIELDS);
	return 0;
}

static struct segment *new_segment(lua_State *L, uint64_t body)
{
	struct segment *segment = lua_newuserdata(L, sizeof(*segment));

	memset(segment, 0, sizeof(*segment));
	segment->count = 1;
	segment->words[0] = body;
	return segment;
}

/* segment(body): of a coroutine that has not started. */
static int l_segment(lua_State *L)
{
	begin_helper(HELPER_SEGMENT);
	new_segment(L, word_at(L, 1));
	end_helper(HELPER_SEGMENT);
	return 1;
}

/* adopt(function, body): a coroutine that only C knows. Returns its segment. */
static int l_adopt(lua_State *L)
{
	lua_State *thread;
	struct segment *segment;

	begin_helper(HELPER_ADOPT);
	if (adopted_count >= ADOPTED_MAX)
		give_up("too many coroutines are adopted");
	thread = lua_newthread(L);
	lua_pushvalue(L, 1);
	lua_xmove(L, thread, 1);
	segment = new_segment(L, word_at(L, 2));
	lua_pushvalue(L, -1);
	adopted[adopted_count].segment = segment;
	adopted[adopted_count].references[0] = luaL_ref(L, LUA_REGISTRYINDEX);
	lua_pushvalue(L, -2);
	adopted[adopted_count].references[1] = luaL_ref(L, LUA_REGISTRYINDEX);
	adopted[adopted_count].thread = thread;
	adopted_count++;
	end_helper(HELPER_ADOPT);
	return 1;
}

/* ---- C functions that are part of the stack */

static int resume(lua_State *thread, lua_State *from)
{
#if LUA_VERSION_NUM >= 504
	int results;

	return lua_resume(thread, from, 0, &results);
#elif LUA_VERSION_NUM >= 502
	return lua_resume(thread, from, 0);
#else
	(void)from;
	return lua_resume(thread, 0);
#endif
}

/* schedule(): resumes the adopted until all have ended. They are neither arguments nor upvalues. */
static int l_schedule(lua_State *L)
{
	const uint64_t own_word = (uint64_t)(uintptr_t)l_schedule;
	int left = adopted_count;

	settle(own_word, HELPER_NONE);
	for (int i = 0; left; i = (i + 1) % adopted_count) {
		if (!adopted[i].thread)
			continue;
		plan_resuming(adopted[i].segment, 0);
		announce(HELPER_NONE);
		if (resume(adopted[i].thread, L) != LUA_YIELD) {
			adopted[i].thread = NULL;
			left--;
		}
		settle(own_word, HELPER_NONE);
	}
	for (int i = 0; i < adopted_count; i++)
		for (int j = 0; j < 2; j++)
			luaL_unref(L, LUA_REGISTRYINDEX, adopted[i].references[j]);
	adopted_count = 0;
	plan_leaving(1);
	announce(HELPER_NONE);
	return 0;
}

#ifndef WITH_LUAU
/* A hook may interrupt a transition; then it does not call its function. */
static void on_count(lua_State *L, lua_Debug *activation)
{
	uint64_t interrupted = truth.stack[truth.state.depth - 1];

	(void)activation;
	if (truth.state.alternatives || truth.state.busy)
		return;
	lua_rawgeti(L, LUA_REGISTRYINDEX, hook_function);
	plan();
	push_word(hook_word);
	may_be(truth.state.depth, 0, 1);
	announce(HELPER_NONE);
	lua_call(L, 0, 0);
	settle(interrupted, HELPER_NONE);
}

/* hook(count, function, line): calls the function every `count` instructions; 0: stops that. */
static int l_hook(lua_State *L)
{
	int count = lua_tonumber(L, 1);

	begin_helper(HELPER_HOOK);
	if (count && !hook_function) {
		hook_word = word_at(L, 3);
		lua_pushvalue(L, 2);
		hook_function = luaL_ref(L, LUA_REGISTRYINDEX);
	}
	lua_sethook(L, count ? on_count : NULL, count ? LUA_MASKCOUNT : 0, count);
	end_helper(HELPER_HOOK);
	return 0;
}
#endif

/* ---- before it begins */

#ifdef WITH_LUAU
/* In Luau, a main chunk is defined in line 1, where the workload has no other function. */
static uint64_t word_of(lua_State *L, int level, const lua_Debug *function)
{
	if (!strcmp(function->what, "C"))
		return word_at(L, level);
	return function->linedefined > 1 ? (uint64_t)function->linedefined : 0;
}

static int l_line(lua_State *L)
{
	lua_Debug function;

	lua_getinfo(L, -1, "s", &function);
	lua_pushnumber(L, function.linedefined);
	return 1;
}

static uint64_t word_of_level(lua_State *L, int level)
{
	lua_Debug activation;
	uint64_t word;

	lua_getinfo(L, level, "sf", &activation);
	word = word_of(L, -1, &activation);
	lua_pop(L, 1);
	return word;
}

#define has_level(L, level, activation) lua_getinfo(L, level, "s", activation)
#else
/* line(function): the word of a Lua function. */
static int l_line(lua_State *L)
{
	lua_Debug function;

	lua_pushvalue(L, 1);
	lua_getinfo(L, ">S", &function);
	lua_pushnumber(L, function.linedefined);
	return 1;
}

static uint64_t word_of_level(lua_State *L, int level)
{
	lua_Debug activation;
	uint64_t word;

	lua_getstack(L, level, &activation);
	lua_getinfo(L, "Sf", &activation);
	word = lua_iscfunction(L, -1) ? word_at(L, -1) : (uint64_t)activation.linedefined;
	lua_pop(L, 1);
	return word;
}

#define has_level(L, level, activation) lua_getstack(L, level, activation)
#endif

/*
 * begin(): what is on the stack now is the first truth. Tells the test where to read it. Returns
 * the word of the main chunk, which has a first line other than 0 in old releases of Luau.
 */
static int l_begin(lua_State *L)
{
	lua_Debug activation;
	struct truth_state state = {};
	int levels = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (has_level(L, levels, &activation))
		levels++;
	for (int level = levels - 1; level > 0; level--)
		truth.stack[state.depth++] = word_of_level(L, level);
	publish(state);
	truth.magic = TRUTH_MAGIC;
	printf("%p %ld\n", (void *)&truth, syscall(SYS_gettid));
	fflush(stdout);
	lua_pushnumber(L, (lua_Number)truth.stack[state.depth - 1]);
	return 1;
}

static const struct {
	const char *name;
	lua_CFunction function;
	enum helper helper;
} functions[] = {
	{"here", l_here, HELPER_HERE},       {"calls", l_calls, HELPER_CALLS},
	{"leaves", l_leaves, HELPER_LEAVES}, {"tails", l_tails, HELPER_TAILS},
	{"throws", l_throws, HELPER_THROWS}, {"resumes", l_resumes, HELPER_RESUMES},
	{"yields", l_yields, HELPER_YIELDS}, {"segment", l_segment, HELPER_SEGMENT},
	{"adopt", l_adopt, HELPER_ADOPT},    {"schedule", l_schedule, HELPER_NONE},
	{"line", l_line, HELPER_NONE},       {"begin", l_begin, HELPER_NONE},
#ifndef WITH_LUAU
	{"hook", l_hook, HELPER_HOOK},
#endif
};

int luaopen_oracle(lua_State *L);

int luaopen_oracle(lua_State *L)
{
	lua_newtable(L);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		lua_pushcfunction(L, functions[i].function);
		lua_setfield(L, -2, functions[i].name);
		if (functions[i].helper)
			truth.helpers[functions[i].helper] =
				(uint64_t)(uintptr_t)functions[i].function;
	}
	return 1;
}
