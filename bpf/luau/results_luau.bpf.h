/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Detects whether the running call of Luau is just returning, and results have replaced it. */
#ifndef LS_RESULTS_LUAU_BPF_H
#define LS_RESULTS_LUAU_BPF_H

#include "luau/order_luau.bpf.h"

#define LS_FUNCTION_BYTES 4096 /* of machine code: most C functions have less */

/* Where savedpc is in a CallInfo; nresults and flags follow. */
static __always_inline __u32 pc_at(const struct ls_scratch *scratch)
{
	return scratch->walk.sizes.ci == 48 ? 48 - LS_LUAU_CI_FROM_SAVEDPC
					    : 40 - LS_LUAU_CI_FROM_SAVEDPC;
}

/* CallInfo.savedpc; 0: none was stored yet, or it is the call of a C function. */
static __always_inline __u64 next_pc(const struct ls_scratch *scratch)
{
	return ls_luau_word(scratch->call, pc_at(scratch));
}

static __always_inline __u32 value_size(const struct ls_scratch *scratch)
{
	return scratch->walk.sizes.value == 24 ? 24 : 16;
}

/*
 * Where a value is in scratch->results. The verifier of Linux 6.1 loses track of products of two
 * variables.
 */
static __always_inline __u32 result_at(const struct ls_scratch *scratch, __u32 i)
{
	__u32 index = i % LS_RESULTS_MAX;

	return value_size(scratch) == 24 ? index * 24 : index * 16;
}

/*
 * Notes which values of scratch->results are the closure of the call. A nil that pads results keeps
 * the bits of what it replaced.
 */
static long look_for_closure(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	__u32 at = result_at(scratch, i), type;

	if (ls_luau_word(scratch->results + at, 0) != scratch->walk.closure)
		return 0;
	type = ls_luau_half(scratch->results + at, ls_luau_type_at(value_size(scratch)));
	if (type == scratch->walk.sizes.thread - scratch->types.function ||
	    (!type && i < scratch->walk.results_padded))
		scratch->walk.results_found |= 1U << (i & 31);
	return 0;
}
LS_STEP(look_for_closure);

/* Returns a bit for each of the LS_RESULTS_MAX values at `address` that is the closure. */
static __always_inline __u32 find_closure(struct ls_scratch *scratch, __u64 address)
{
	struct ls_pass pass = {.scratch = scratch};

	scratch->walk.results_found = 0;
	if (!read_target(scratch->results, LS_RESULTS_MAX * value_size(scratch), address))
		repeat(LS_RESULTS_MAX, look_for_closure, &pass);
	return scratch->walk.results_found;
}

/*
 * Whether the results were two places higher before, so that the third has overwritten the first:
 * pairs(t) has [t, next, t, nil] above its own place, then [t, nil, t, nil].
 */
static __always_inline bool is_shifted(const struct ls_scratch *scratch)
{
	const __u8 *results = scratch->results;
	__u32 value = value_size(scratch);

	return ls_luau_half(results, ls_luau_type_at(value)) >=
		       scratch->walk.sizes.thread - scratch->types.string &&
	       ls_luau_word(results, 0) == ls_luau_word(results, 2 * value) &&
	       ls_luau_word(results, value) == ls_luau_word(results, 3 * value);
}

/*
 * Whether `top` has been lowered already, so that the results are past it: to the caller's top or,
 * if the caller wants all results, to their end. `found` are the places of the closure past `top`.
 */
static __always_inline bool is_lowered(struct ls_scratch *scratch, __u64 low, __u64 top,
				       __u32 found, __s32 wanted)
{
	__u64 caller_top;
	__u32 next = 0;

	if (wanted > 0)
		return !read_target(&caller_top, sizeof(caller_top),
				    scratch->walk.ci - scratch->walk.sizes.ci + LS_LUAU_CI_TOP) &&
		       top == caller_top + scratch->walk.moved;
	if (top <= low)
		return true;
	/* A second result is still behind the first, too. */
	for (__u32 i = LS_RESULTS_MAX - 1; i > 0; i--)
		next += (i - next) * (found >> (i - 1) & 1);
	return next && ls_luau_word(scratch->results, 0) ==
			       ls_luau_word(scratch->results + result_at(scratch, next), 0);
}

/* Notes whether a word of the native stack is a return address into the C function of the call. */
static long look_for_return(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	__u64 address = scratch->search.chunk[i % LS_CHUNK_WORDS];

	scratch->walk.returns_there = address - scratch->walk.frame.function < LS_FUNCTION_BYTES;
	return scratch->walk.returns_there;
}
LS_STEP(look_for_return);

/* Whether the C function of the call runs on this thread, or has called what runs. */
static __always_inline bool runs_function(struct ls_scratch *scratch)
{
	struct ls_pass pass = {.scratch = scratch};

	if (scratch->pc - scratch->walk.frame.function < LS_FUNCTION_BYTES)
		return true;
	scratch->walk.returns_there = 0;
	if (!read_target(scratch->search.chunk, LS_CHUNK_BYTES, scratch->sp))
		repeat(LS_CHUNK_WORDS, look_for_return, &pass);
	return scratch->walk.returns_there;
}

/*
 * Whether what is past `top` was there before the call. Up to mid-2023, the VM looks up a function
 * of a module beyond the caller's frame, and leaves a copy there. If it is such a copy, the C
 * function still runs, or it has pushed a result, so that `top` is past the end of its arguments:
 * the room that it may use, LUA_MINSTACK values, begins there.
 */
static __always_inline int is_leftover(struct ls_scratch *scratch, __u64 top)
{
	struct ls_walk *walk = &scratch->walk;
	__u64 room = ls_luau_word(scratch->call, LS_LUAU_CI_TOP) + walk->moved;

	return top > room - LS_LUAU_MIN_STACK * value_size(scratch) || runs_function(scratch);
}

/*
 * Whether what looks like the running C function is a result of the function that runs. The VM
 * copies results to the place of the function that returns them, and only then leaves its call
 * (luau_precall(), lvmexecute.cpp). A C function among the results, as of pairs(), is then on the
 * stack above its own place, too; hardly any function is called with itself as an argument.
 */
__noinline bool is_half_returned(struct ls_scratch *scratch)
{
	struct ls_walk *walk;
	__u64 low, top;
	__u32 value, found, used, wanted; /* as __u32, all results are many */

	if (!scratch)
		return false;
	walk = &scratch->walk;
	value = value_size(scratch);
	low = ls_luau_word(scratch->call, LS_LUAU_CI_FUNC) + value + walk->moved;
	top = scratch->state.top + walk->moved;
	wanted = ls_luau_half(scratch->call, pc_at(scratch) + 8);
	if (!wanted || top > walk->stack_end)
		return false;
	walk->results_padded = (__s32)wanted > 1 ? wanted - 1 : 0;
	found = find_closure(scratch, low);
	walk->results_padded = 0;
	used = top > low ? (top - low) / value : 0;
	if (used < LS_RESULTS_MAX && found >> used && !(found & ((1U << used) - 1)))
		return is_lowered(scratch, low, top, found, wanted) && !is_leftover(scratch, top);
	if (found || (wanted >= 3 && used == 4 && is_shifted(scratch)))
		return true;
	return used > LS_RESULTS_MAX && find_closure(scratch, top - LS_RESULTS_MAX * value);
}

#endif
