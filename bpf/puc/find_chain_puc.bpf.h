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
 * Returns the only state that the call decoded last, a call of `function`, can have resumed: the
 * first argument of coroutine.resume, or the upvalue of a function that coroutine.wrap returned. 0:
 * `function` is neither.
 */
static __always_inline __u64 resumed_by_call(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout,
					     const struct ls_image *image, __u64 function)
{
	__u64 values[4]; /* the function and its first argument */
	__u64 upvalue[2];
	const __u8 *ci;

	for (__u32 i = 0; i < LS_RESUMERS_MAX && i < image->resumer_count; i++) {
		bool is_resume = function == image->resumers[i].resume;

		if (!is_resume && function != image->resumers[i].auxwrap)
			continue;
		ci = read_ci(scratch, layout);
		if (!ci || read_target(values, sizeof(values), func_of(scratch, layout, ci)))
			return 0;
		if (is_resume)
			return LS_WITHOUT_COLLECTABLE((__u8)values[3]) == LS_TYPE_THREAD ? values[2]
											 : 0;
		if (read_target(upvalue, sizeof(upvalue), values[0] + layout->closure_function + 8))
			return 0;
		return LS_WITHOUT_COLLECTABLE((__u8)upvalue[1]) == LS_TYPE_THREAD ? upvalue[0] : 0;
	}
	return 0;
}

/*
 * Returns what the C function that was decoded last can have resumed, as judge_top() does.
 * __noinline: its variables must not be on the BPF stack while judge_top() decodes the call.
 */
__noinline int judge_function(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	const struct ls_image *image;
	__u64 function;

	if (!scratch || !layout)
		return LS_TOP_UNKNOWN;
	image = image_of(scratch);
	if (!image)
		return LS_TOP_UNKNOWN;
	function = scratch->walk.frame.function;
	if (is_in_library(image, function))
		return LS_TOP_ALONE;
	scratch->search.resumed = resumed_by_call(scratch, layout, image, function);
	return scratch->search.resumed ? LS_TOP_RESUMES : LS_TOP_UNKNOWN;
}

/*
 * Returns what the function on top of chain[0] can have resumed, LS_TOP_*. While a hook runs, that
 * is unknown. A Lua function, or one of Lua's own library, resumes nothing; coroutine.resume and
 * what coroutine.wrap returned resume one state, search.resumed. In a mapping with other stacks,
 * where a state may wait inside any C function, only Lua functions are known. __noinline: verified
 * once for all callers.
 */
__noinline int judge_top(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	if (!scratch || !layout || enter_state(scratch, layout, 0) ||
	    !scratch->state[layout->state_allow_hook] ||
	    scratch->walk.ci == scratch->walk.base_ci || decode_call(scratch, layout))
		return LS_TOP_UNKNOWN;
	if (scratch->walk.frame.kind == LS_FRAME_LUA)
		return LS_TOP_ALONE;
	return scratch->walk.frame.kind == LS_FRAME_C && !scratch->search.is_shared
		       ? judge_function(scratch, layout)
		       : LS_TOP_UNKNOWN;
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

/* Adds the state that chain[0] has resumed, if it runs. 1: it is not known to have resumed one. */
static long follow_resume(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	__u64 resumed = scratch->search.resumed;

	if (!consider(scratch, pass->layout, resumed) || scratch->chain[0].state != resumed)
		scratch->search.top = LS_TOP_ALONE;
	else
		scratch->search.top = judge_top(scratch, pass->layout);
	return scratch->search.top != LS_TOP_RESUMES;
}
LS_STEP(follow_resume);

/*
 * Adds the states that the reused chain has resumed since, of which search.top tells. A register
 * mostly points to the running state: if that runs alone, no state is deeper. Returns LS_WALK_NONE
 * or the error.
 */
static __always_inline int extend_chain(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	__u64 end;

	know_standing(scratch, layout);
	scratch->search.rooted = 1;
	if (scratch->search.top == LS_TOP_RESUMES)
		repeat(LS_CHAIN_MAX, follow_resume, &pass);
	if (scratch->search.top == LS_TOP_ALONE)
		return LS_WALK_NONE;
	end = scratch->chain[0].anchor;
	search_registers(scratch, layout);
	if (scratch->chain[0].anchor < end && judge_top(scratch, layout) == LS_TOP_ALONE)
		scratch->search.address = scratch->chain[0].anchor;
	return search_below(scratch, layout, end);
}

/* Finds the chain of active states, scratch->chain. Returns LS_WALK_NONE or the error. */
static __always_inline int find_chain(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, struct ls_thread *thread)
{
	int error = LS_WALK_NONE, stands;

	search_begin(scratch, thread);
	stands = chain_stands(scratch, layout, thread);
	scratch->search.top = stands ? judge_top(scratch, layout) : LS_TOP_UNKNOWN;
	if (scratch->search.top == LS_TOP_ALONE && scratch->search.is_shared &&
	    runs_here(scratch, layout, 0)) {
		scratch->search.is_cut = thread->chain_is_cut;
		remember_chain(thread, scratch);
		return LS_WALK_NONE;
	}
	if (!stands || scratch->search.is_shared)
		error = search_stack(scratch, layout, thread);
	else if (scratch->search.top != LS_TOP_ALONE)
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
