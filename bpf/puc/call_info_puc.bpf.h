/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CallInfo that a walk of PUC Lua is at. */
#ifndef LS_CALL_INFO_PUC_BPF_H
#define LS_CALL_INFO_PUC_BPF_H

#include "puc/standing_chain_puc.bpf.h"

#include "window.bpf.h"

/*
 * Whether the running call is inside the array of CallInfos. luaD_reallocCI (ldo.c, 5.1) updates
 * base_ci before it updates ci: in between, ci points to the remains of other calls.
 */
static __always_inline bool is_in_array(const struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	__u64 offset = scratch->walk.ci - scratch->walk.base_ci;
	__u64 room = ls_half(scratch->state, layout->state_ci_room);

	return offset < room * layout->ci_size && offset % layout->ci_size == 0;
}

/* Moves the walk to a state's calls. Returns 0, or 1: unreadable, or it contradicts itself. */
static __always_inline int enter_state(struct ls_scratch *scratch,
				       const struct ls_puc_layout *layout, __u32 chain_index)
{
	struct ls_walk *walk = &scratch->walk;
	__u64 state;

	if (chain_index >= LS_CHAIN_MAX)
		return 1;
	walk->chain_index = chain_index;
	state = scratch->chain[chain_index].state;
	if (scratch->state_address != state) {
		scratch->state_address = 0;
		scratch->stack.end = 0;
		if (read_state(layout, state, scratch->state))
			return 1;
		scratch->state_address = state;
	}
	walk->ci = ls_word(scratch->state, layout->state_ci);
	walk->base_ci = base_ci_of(layout, scratch->state, state);
	return layout->ci_is_array && !is_in_array(scratch, layout);
}

/*
 * Returns the CallInfo that the walk is at. Many are read at a time: those of a list, allocated one
 * after the other when a program first calls deeper, are mostly close together. What precedes one
 * in its page is present as well.
 */
static __always_inline const __u8 *read_ci(struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout)
{
	return view(&scratch->ci, scratch->walk.ci, layout->ci_size,
		    layout->ci_is_array ? scratch->walk.base_ci
					: scratch->walk.ci & ~(LS_PAGE_BYTES - 1));
}

static __always_inline __u64 func_of(const struct ls_scratch *scratch,
				     const struct ls_puc_layout *layout, const __u8 *ci)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 func = ls_word(ci, layout->ci_func);

	/* ldo.c, luaD_reallocstack (5.4.5): pointers are offsets while the stack moves. */
	if (layout->relocates_stack && func < stack)
		func += stack;
	return func;
}

static __always_inline __u8 flags_of(const struct ls_puc_layout *layout, const __u8 *ci)
{
	__u32 status = ls_half(ci, layout->ci_status);

	if (!(status & (layout->status_tail | layout->status_hooked | layout->status_finalizer)))
		return 0;
	if (layout->ci_status_size == 1)
		status &= 0xff;
	else if (layout->ci_status_size == 2)
		status &= 0xffff;
	return (status & layout->status_tail ? LS_FRAME_TAIL_CALLED : 0) |
	       (status & layout->status_hooked ? LS_FRAME_HOOKED : 0) |
	       (status & layout->status_finalizer ? LS_FRAME_FINALIZER : 0);
}

static __always_inline bool is_top_call(const struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	return scratch->walk.ci == ls_word(scratch->state, layout->state_ci);
}

#endif
