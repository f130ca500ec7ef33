/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the garbage collector was interrupted, or something that it called.
 *
 * The collector runs in C, on the native stack, below the function that allocated. So either the pc
 * lies in its code, or a return address into it lies on the stack. Of two that are found the nearer
 * one to SP is the inner: where the code that runs functions (luaV_execute, luaD_call) comes first,
 * the collector waits for a finalizer, or is long over and left a word behind. Since 5.2 finalizers
 * run under a protected call of their own, whose errorJmp then lies nearer than the collector's
 * frames: what is beyond the running state's errorJmp says nothing.
 */
#ifndef LS_COLLECTOR_BPF_H
#define LS_COLLECTOR_BPF_H

#include "scratch.bpf.h"

/*
 * How far up return addresses are looked for. 64 words find 99%; an allocator that frees whole bins
 * (jemalloc) has frames of more than that.
 */
#define LS_COLLECTOR_WORDS LS_CHUNK_WORDS

enum ls_place {
	LS_PLACE_OTHER,
	LS_PLACE_EXECUTOR,
	LS_PLACE_COLLECTOR,
};

struct ls_look {
	struct ls_scratch *scratch;
	const struct ls_target *target;
	__u32 count; /* of words */
	__u32 found; /* enum ls_place */
};

static __always_inline __u32 place_of(const struct ls_target *target, __u64 address)
{
	if (address < target->watched.low || address >= target->watched.high)
		return LS_PLACE_OTHER;
	for (__u32 i = 0; i < LS_EXECUTOR_RANGES && target->executor[i].high; i++)
		if (address >= target->executor[i].low && address < target->executor[i].high)
			return LS_PLACE_EXECUTOR;
	for (__u32 i = 0; i < LS_COLLECTOR_RANGES && target->collector[i].high; i++)
		if (address >= target->collector[i].low && address < target->collector[i].high)
			return LS_PLACE_COLLECTOR;
	return LS_PLACE_OTHER;
}

/* The first word of some that is a return address of either kind; 1: found. */
static long look_at_return(__u32 i, void *context)
{
	struct ls_look *look = context;

	if (i >= look->count)
		return 1;
	look->found = place_of(look->target, look->scratch->search.chunk[i % LS_CHUNK_WORDS]);
	return look->found != LS_PLACE_OTHER;
}

/* How many words there are between SP and what ends the search. */
static __always_inline __u32 words_to_look_at(const struct ls_scratch *scratch)
{
	__u64 end = scratch->search.high;

	if (scratch->chain_count && scratch->chain[0].error_jump < end)
		end = scratch->chain[0].error_jump;
	if (end <= scratch->sp)
		return 0;
	if (end - scratch->sp > LS_COLLECTOR_WORDS * 8)
		return LS_COLLECTOR_WORDS;
	return (end - scratch->sp) / 8;
}

/* 1: the sample was taken in the collector. To be asked after the walk, whose chain it needs. */
__noinline int is_in_collector(struct ls_scratch *scratch, const struct ls_target *target)
{
	struct ls_look look = {.scratch = scratch, .target = target};
	__u32 size;

	if (!scratch || !target || !target->collector[0].high)
		return 0;
	look.found = place_of(target, scratch->pc);
	if (look.found != LS_PLACE_OTHER)
		return look.found == LS_PLACE_COLLECTOR;
	look.count = words_to_look_at(scratch);
	size = look.count * 8;
	if (!size || size > sizeof(scratch->search.chunk) ||
	    read_target(scratch->search.chunk, size, scratch->sp))
		return 0;
	repeat(LS_COLLECTOR_WORDS, look_at_return, &look);
	return look.found == LS_PLACE_COLLECTOR;
}

#endif
