/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Lua module `oracle`, with which a script publishes its own stack (truth.h). Every function of
 * the script takes part: the caller says what it calls, the callee that it is there, and so on for
 * each way in which a stack can change. Compiled for each release.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api.h"
#include "publishing.h"

#define ADOPTED_MAX 8

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

/* ---- what the script calls */

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

/*
 * begin(): what is on the stack now is the first truth. Returns the word of the main chunk, which
 * has a first line other than 0 in old releases of Luau.
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
	lua_pushnumber(L, (lua_Number)truth.stack[state.depth - 1]);
	return 1;
}

/* tell(): tells the test where to read. It is stopped in here, so this is what is sampled first. */
static int l_tell(lua_State *L)
{
	(void)L;
	printf("%p %ld\n", (void *)&truth, syscall(SYS_gettid));
	fflush(stdout);
	return 0;
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
	{"tell", l_tell, HELPER_NONE},
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
