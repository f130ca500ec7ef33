/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How PUC Lua keeps its stack, and how it is walked.
 *
 * A lua_State has two stacks: one of values (L->stack .. L->top, 16-byte TValues) and one of calls.
 * Each call has a CallInfo: `func` points to the called function on the stack of values, `savedpc`
 * to the next instruction of a Lua function. Since 5.2 CallInfos are a doubly linked list that
 * starts with L->base_ci, which is embedded in the lua_State and stands for the C code below the
 * first call; L->ci is the running call. In 5.1 they are an array, base_ci .. ci, and the running
 * Lua function's pc is in L->savedpc instead. A Lua function is a closure that points to its
 * prototype (Proto: code, constants, source, lines); a C function is a closure with a C pointer or,
 * since 5.2, the pointer itself.
 *
 * The savedpc of the running function lags behind if luaV_execute keeps pc in a local variable
 * (5.1, 5.4, 5.5): see current_pc.bpf.h.
 *
 * So a walk goes from L->ci along `previous` to base_ci, reading for each call its CallInfo, the
 * slot of its function, the closure and the prototype, and continues with the state that resumed
 * this one. CallInfos and slots are read many at a time; closures and prototypes that earlier
 * samples have read are known (proof.bpf.h). The room for frames, --max-depth, bounds every loop.
 *
 * The target runs between samples but not during one, so all reads are consistent, except that the
 * interpreter may have been interrupted while it entered or left a function, or moved its stack.
 * Then CallInfos contradict themselves or each other. The frames on the leaf's side of the
 * contradiction are dropped; the callers are correct, and the sample is torn. It is not torn if
 * only the running call is dropped, and that call has certainly not begun or is over
 * (between_calls()).
 */
#ifndef LS_WALK_PUC_BPF_H
#define LS_WALK_PUC_BPF_H

#include "puc/find_chain_puc.bpf.h"
#include "puc/self_check_puc.bpf.h"

#include "current_pc.bpf.h"
#include "fault.bpf.h"

static __always_inline void put_frame(struct ls_scratch *scratch)
{
	struct ls_walk *walk = &scratch->walk;
	__u32 at = scratch->sample.frame_count;

	if (walk->from_root)
		at = scratch->frame_room / 2 + walk->left;
	if (at >= LS_DEPTH_MAX)
		return;
	scratch->frames[at] = walk->frame;
	if (!walk->from_root)
		scratch->sample.frame_count = at + 1;
	walk->left--;
}

/*
 * Drops all frames so far, because one contradicts itself: its callees cannot be told from remains
 * of earlier calls. Its callers remain valid. Nothing is lost with what is between two calls.
 */
static __always_inline void drop_frames(struct ls_scratch *scratch, __u8 error)
{
	if (error != LS_BETWEEN_CALLS)
		note_error(scratch, error);
	scratch->sample.frame_count = 0;
	scratch->walk.left = scratch->frame_room;
	scratch->walk.code = 0;
}

/* Checks whether the running function agrees with its caller, which is in scratch->walk.frame. */
static __always_inline void check_top(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout)
{
	struct ls_walk *walk = &scratch->walk;
	bool is_top = is_top_call(scratch, layout);
	const __u8 *ci;
	int error;

	ci = is_top || walk->top_func ? read_ci(scratch, layout) : NULL;
	if (!ci)
		return;
	if (is_top) {
		walk->top_func = walk->chain_index ? 0 : func_before_yield(scratch, layout, ci);
		return;
	}
	error = contradicts_caller(scratch, layout, ci);
	if (error) {
		drop_frames(scratch, error);
		put_frame(scratch);
	}
	walk->top_func = 0;
}

static __always_inline void mark_state_root(struct ls_scratch *scratch)
{
	__u32 last = scratch->sample.frame_count - 1;

	if (last < LS_DEPTH_MAX)
		scratch->frames[last].flags |= LS_FRAME_STATE_ROOT;
}

/*
 * At the first call of a state, continues the walk with its resumer. Returns true if there is none,
 * or if it cannot be read.
 */
static __always_inline bool leave_state(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	mark_state_root(scratch);
	if (scratch->is_undecided)
		check_state(scratch, layout);
	if (scratch->walk.chain_index + 1 >= scratch->chain_count)
		return true;
	if (!enter_state(scratch, layout, scratch->walk.chain_index + 1))
		return false;
	note_error(scratch, LS_WALK_STATE_MEMORY);
	return true;
}

/* Walks one CallInfo, or steps to the resumer. 1: the end. */
static long walk_call(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	const struct ls_puc_layout *layout = pass->layout;
	struct ls_walk *walk = &scratch->walk;
	int error;

	if (walk->ci == walk->base_ci)
		return leave_state(scratch, layout);
	if (!walk->left) {
		note_error(scratch, LS_WALK_DEPTH);
		return 1;
	}
	error = decode_call(scratch, layout);
	if (error)
		drop_frames(scratch, error);
	else
		put_frame(scratch);
	if (!error && scratch->is_undecided)
		check_call(scratch, layout);
	if (!error)
		check_top(scratch, layout);
	walk->ci = walk->callers_ci;
	if (is_pointer(walk->ci) && (!layout->ci_is_array || walk->ci >= walk->base_ci))
		return 0;
	scratch->sample.error = LS_WALK_CALL_CHAIN;
	return 1;
}
LS_STEP(walk_call);

/* The same from the root towards the leaf, for stacks with more frames than room. */
static long walk_call_from_root(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	const struct ls_puc_layout *layout = pass->layout;
	struct ls_walk *walk = &scratch->walk;
	const __u8 *ci;
	int error;

	if (!walk->left)
		return 1;
	if (walk->ci != walk->base_ci) {
		error = decode_call(scratch, layout);
		if (error) {
			scratch->sample.error =
				error == LS_BETWEEN_CALLS ? LS_WALK_FRAME_FUNCTION : error;
			walk->is_torn = 1;
			return 1;
		}
		if (walk->is_first)
			walk->frame.flags |= LS_FRAME_STATE_ROOT;
		put_frame(scratch);
	}
	if (walk->ci == ls_word(scratch->state, layout->state_ci)) {
		if (!walk->chain_index || enter_state(scratch, layout, walk->chain_index - 1))
			return 1;
		walk->ci = walk->base_ci;
	}
	walk->is_first = walk->ci == walk->base_ci;
	ci = read_ci(scratch, layout);
	if (!ci)
		return 1;
	walk->ci = layout->ci_is_array ? walk->ci + layout->ci_size : ls_word(ci, layout->ci_next);
	return !is_pointer(walk->ci);
}
LS_STEP(walk_call_from_root);

/* Clears the place of a missing frame. */
static long clear_place(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	__u32 at = scratch->frame_room / 2 + 1 + i;

	if (at < LS_DEPTH_MAX)
		scratch->frames[at].kind = 0;
	return 0;
}
LS_STEP(clear_place);

/* Moves one of the frames that were taken from the root to where the leaf's half was. */
static long keep_root_frame(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	__u32 from = scratch->frame_room / 2 + scratch->walk.left + 1 + i;

	if (i >= LS_DEPTH_MAX || from >= LS_DEPTH_MAX)
		return 1;
	scratch->frames[i] = scratch->frames[from];
	return 0;
}
LS_STEP(keep_root_frame);

/*
 * If there are more frames than room, keeps the leaf's half, adds a placeholder, and takes the rest
 * from the root. Frames are stored leaf first, so the root's are stored from the end downward.
 */
static __always_inline void add_root_part(struct ls_pass *pass)
{
	struct ls_scratch *scratch = pass->scratch;
	__u32 room = scratch->frame_room, half = room / 2;
	struct ls_frame gap = {.kind = LS_FRAME_TRUNCATED};

	if (half >= LS_DEPTH_MAX || room > LS_DEPTH_MAX || !scratch->chain_count)
		return;
	scratch->frames[half] = gap;
	scratch->sample.frame_count = room;
	scratch->walk.from_root = 1;
	scratch->walk.is_torn = 0;
	scratch->walk.left = room - half - 1;
	if (!enter_state(scratch, pass->layout, scratch->chain_count - 1)) {
		scratch->walk.ci = scratch->walk.base_ci;
		repeat(LS_DEPTH_MAX + LS_CHAIN_MAX, walk_call_from_root, pass);
	}
	/* Frames on the leaf's side of one that cannot be decoded are dropped here as well. */
	if (scratch->walk.is_torn) {
		scratch->sample.frame_count = room - half - 1 - scratch->walk.left;
		repeat(scratch->sample.frame_count, keep_root_frame, pass);
		return;
	}
	repeat(scratch->walk.left, clear_place, pass);
}

/* Walks the whole chain into scratch->sample and scratch->frames. */
static __always_inline int walk_chain(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	long rounds;

	if (!scratch || !layout)
		return 0;
	scratch->walk.left = scratch->frame_room;
	scratch->lua_frames = 0;
	scratch->walk.from_root = 0;
	scratch->walk.top_func = 0;
	scratch->walk.callee_ci = 0;
	scratch->walk.callee_is_lua = 0;
	scratch->walk.in_hook = 0;
	scratch->walk.checked = 0;
	scratch->doubt = LS_DOUBT_NONE;
	scratch->walk.result_signs = 0;
	scratch->walk.code = 0;
	if (enter_state(scratch, layout, 0)) {
		note_error(scratch, LS_WALK_STATE_MEMORY);
		return 0;
	}
	/* Twice the room: the callees of a torn frame are dropped, which frees their room. */
	rounds = 2L * scratch->frame_room + LS_CHAIN_MAX;
	if (repeat(rounds, walk_call, &pass) == rounds)
		scratch->sample.error = LS_WALK_CALL_CHAIN;
	if (scratch->is_undecided && scratch->sample.error == LS_WALK_DEPTH)
		check_state(scratch, layout);
	if (!scratch->walk.left && scratch->walk.ci != scratch->walk.base_ci)
		add_root_part(&pass);
	return 0;
}

/* Discards what an earlier stack has left behind. */
static __always_inline void begin_stack(struct ls_scratch *scratch)
{
	scratch->sample.error = LS_WALK_NONE;
	scratch->sample.state = 0;
	scratch->sample.vm = 0;
	scratch->sample.frame_count = 0;
	scratch->state_address = 0;
	scratch->ci.end = 0;
	scratch->stack.end = 0;
	scratch->closures.end = 0;
	scratch->closures.near = 0;
	scratch->protos.end = 0;
	scratch->protos.near = 0;
	scratch->chain_count = 0;
	scratch->lua_frames = 0;
}

/* Whether the walk is evidence for the layout; the self-check, if it ran, adds doubt. */
static __always_inline bool is_evidence(const struct ls_scratch *scratch)
{
	__u8 error = scratch->sample.error;

	return scratch->lua_frames && !scratch->doubt && (!error || error == LS_WALK_DEPTH);
}

/* See select_layout.bpf.h. __noinline: verified once for all callers. */
__noinline int take_stack(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
			  struct ls_thread *thread)
{
	int error;

	if (!scratch || !layout || !thread)
		return 0;
	begin_stack(scratch);
	error = find_chain(scratch, layout, thread);
	note_error(scratch, error);
	if (error)
		return 0;
	if (scratch->search.is_cut)
		note_error(scratch, LS_WALK_RESUMERS);
	walk_chain(scratch, layout);
	scratch->sample.state = scratch->chain[0].state;
	scratch->sample.vm = scratch->chain[0].main_thread;
	correct_leaf(scratch, thread);
	return is_evidence(scratch);
}

#endif
