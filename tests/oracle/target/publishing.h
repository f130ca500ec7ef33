/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The truth that a script publishes of its stack (truth.h), and what may come next. Every store of
 * it is one instruction.
 */
#ifndef TEST_PUBLISHING_H
#define TEST_PUBLISHING_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../truth.h"

#define SEGMENT_MAX 48

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

#endif
