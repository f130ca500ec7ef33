/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scratch->chain: the states that are active on this native stack, the running one first. Each is
 * sorted by its anchor, an address on the stack that is higher for a resumer than for the state
 * that it resumed.
 */
#ifndef LS_ACTIVE_CHAIN_BPF_H
#define LS_ACTIVE_CHAIN_BPF_H

#include "scratch.bpf.h"

struct ls_insertion {
	struct ls_scratch *scratch;
	struct ls_active carried; /* the state that still needs a place */
};

/* Tries one place of the chain. 1: done. */
static long insert_active(__u32 i, void *context)
{
	struct ls_insertion *insertion = context;
	struct ls_active *place = &insertion->scratch->chain[i % LS_CHAIN_MAX];
	struct ls_active there = *place;

	if (i >= insertion->scratch->chain_count) {
		*place = insertion->carried;
		insertion->scratch->chain_count = i + 1;
		insertion->carried.state = 0;
		return 1;
	}
	if (there.state == insertion->carried.state) {
		insertion->carried.state = 0;
		return 1;
	}
	if (insertion->carried.anchor < there.anchor) {
		*place = insertion->carried;
		insertion->carried = there;
	}
	return 0;
}
LS_STEP(insert_active);

/* Adds a state to the chain, unless it is in it. */
static __always_inline void add_active(struct ls_scratch *scratch, __u64 state, __u64 anchor,
				       __u64 ci, __u64 main_thread)
{
	struct ls_insertion insertion = {
		.scratch = scratch,
		.carried = {.state = state, .anchor = anchor, .ci = ci, .main_thread = main_thread},
	};

	repeat(LS_CHAIN_MAX, insert_active, &insertion);
	if (insertion.carried.state && !scratch->search.is_shared)
		scratch->search.is_cut = 1; /* the outermost fell off */
}

#endif
