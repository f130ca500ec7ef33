/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the chain of states of PUC Lua that run on this native stack: the part of the last sample's
 * that stands, and what a search of the stack adds.
 */
#ifndef LS_FIND_CHAIN_PUC_BPF_H
#define LS_FIND_CHAIN_PUC_BPF_H

#include "puc/library_puc.bpf.h"
#include "puc/stack_owner_puc.bpf.h"

/*
 * Whether hooks are allowed, and the function on top cannot have resumed another state: it is a Lua
 * function, or one of Lua's own library. In a mapping with other stacks, where a state may wait
 * inside any C function, only the former counts. __noinline: verified once for all callers.
 */
__noinline int runs_alone(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	if (!scratch || !layout || enter_state(scratch, layout, 0) ||
	    !scratch->state[layout->state_allow_hook] ||
	    scratch->walk.ci == scratch->walk.base_ci || decode_call(scratch, layout))
		return 0;
	return scratch->walk.frame.kind == LS_FRAME_LUA ||
	       (scratch->walk.frame.kind == LS_FRAME_C && !scratch->search.is_shared &&
		is_of_library(scratch, scratch->walk.frame.function));
}

static __always_inline void remember_chain(struct ls_thread *thread,
					   const struct ls_scratch *scratch)
{
	__u32 count = scratch->chain_count;

	if (!count || count > LS_CHAIN_MAX)
		return;
	thread->chain_count = count;
	thread->chain_is_cut = scratch->search.is_cut;
	__builtin_memcpy(thread->chain, scratch->chain, sizeof(thread->chain));
	thread->root = scratch->chain[(count - 1) % LS_CHAIN_MAX];
}

/*
 * Keeps the states that run on this stack. In a mapping that is this thread's own stack, every
 * active state does, except that one without errorJmp, which sorts last, may run anywhere. In a
 * mapping that may hold several stacks, the states of all of them look active by their errorJmp, so
 * each must be shown to belong to this one.
 */
static __always_inline int keep_own(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	__u32 last = scratch->chain_count - 1;
	int error;

	if (!scratch->search.is_shared &&
	    scratch->chain[last % LS_CHAIN_MAX].anchor != LS_UNPROTECTED)
		return LS_WALK_NONE;
	error = drop_strangers(scratch, layout);
	if (error || !scratch->search.is_shared)
		return error;
	if (scratch->search.address < scratch->search.high &&
	    scratch->chain[0].anchor != LS_UNPROTECTED &&
	    scratch->search.address < scratch->chain[0].anchor)
		return LS_WALK_STATE_BEYOND;
	prove_resumers(scratch, layout);
	return LS_WALK_NONE;
}

/*
 * Tells the search what is known of the innermost state that stands: its VM, and its values, none
 * of which is a state. The range of values ends at `top`, because luaD_reallocstack (ldo.c)
 * corrects that first when it moves the stack, and stack_last only later.
 */
static __always_inline void know_standing(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout)
{
	struct ls_search *search = &scratch->search;

	if (scratch->state_address != scratch->chain[0].state)
		return;
	search->values.low = ls_word(scratch->state, layout->state_stack);
	search->values.high = ls_word(scratch->state, layout->state_top);
	search->global = ls_word(scratch->state, layout->state_global);
	search->main_thread = scratch->chain[0].main_thread;
}

/*
 * Adds the states that the reused chain has resumed since. A register mostly points to the running
 * state: if that runs alone, no state is deeper. Returns LS_WALK_NONE or the error.
 */
static __always_inline int extend_chain(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	__u64 end = scratch->chain[0].anchor;

	know_standing(scratch, layout);
	search_registers(scratch, layout);
	if (scratch->chain[0].anchor < end && runs_alone(scratch, layout))
		scratch->search.address = scratch->chain[0].anchor;
	return search_below(scratch, layout, end);
}

/* Finds the chain of active states, scratch->chain. Returns LS_WALK_NONE or the error. */
static __always_inline int find_chain(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, struct ls_thread *thread)
{
	int error = LS_WALK_NONE, stands;
	bool is_alone;

	search_begin(scratch, thread);
	stands = chain_stands(scratch, layout, thread);
	is_alone = stands && runs_alone(scratch, layout);
	if (is_alone && scratch->search.is_shared && runs_here(scratch, layout, 0)) {
		scratch->search.is_cut = thread->chain_is_cut;
		remember_chain(thread, scratch);
		return LS_WALK_NONE;
	}
	if (!stands || scratch->search.is_shared)
		error = search_stack(scratch, layout, thread);
	else if (!is_alone)
		error = extend_chain(scratch, layout);
	if (scratch->search.lost)
		learn_gap(scratch);
	if (stands && !scratch->search.is_shared)
		scratch->search.is_cut |= thread->chain_is_cut;
	if (scratch->search.is_shared && scratch->search.address >= scratch->search.high)
		scratch->search.is_beyond = 1;
	if (!error)
		error = keep_own(scratch, layout);
	if (error)
		thread->chain_count = 0;
	else
		remember_chain(thread, scratch);
	return error;
}

#endif
