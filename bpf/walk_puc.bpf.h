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
 * closure and the prototype (three reads; the stack of values is read in windows), and continues
 * with the state that resumed this one. The room for frames, --max-depth, bounds every loop.
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

#include "stack_owner_puc.bpf.h"
#include "self_check_puc.bpf.h"

#include "current_pc.bpf.h"

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

/* Where the function lies that a Lua caller's call instruction calls. */
static __always_inline __u64 called_place(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, const __u8 *ci,
					  __u32 instruction)
{
	__u64 base = layout->ci_has_base ? ls_word(ci, layout->ci_base)
					 : func_of(scratch, layout, ci) + 16;

	return base + 16 * (instruction >> (layout->op_bits & 7) & 0xff);
}

/*
 * Detects the last case of a call that luaD_precall has not filled in yet: a Lua caller at a call
 * instruction tells where the function that it calls is. 5.4 moves vararg functions up from there.
 */
static __always_inline int is_called_elsewhere(struct ls_scratch *scratch,
					       const struct ls_puc_layout *layout, const __u8 *ci,
					       __u32 instruction)
{
	__u64 expected = called_place(scratch, layout, ci, instruction);

	return layout->ci_has_base ? expected != scratch->walk.top_func
				   : expected > scratch->walk.top_func;
}

/* The same for a C function above that place, 5.4 on: C functions are never moved up. */
static __always_inline bool is_left_above(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, const __u8 *ci,
					  __u32 instruction)
{
	return scratch->frames[0].kind == LS_FRAME_C &&
	       called_place(scratch, layout, ci, instruction) != scratch->walk.top_func;
}

/*
 * Whether what looks like the running function is a result of that function (look_for_results). It
 * is if it is also on the stack above its own place: hardly any function is called with itself. If
 * it is above `top`, where anything may be left over, `top` must be where the results end; of all
 * results that there are, there is mostly one. Releases before 5.4 leave the call first.
 */
static __always_inline bool is_half_returned(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout, __u32 instruction,
					     bool is_call)
{
	__u32 signs = scratch->walk.result_signs;
	__u32 wanted = is_call ? results_operand(layout, instruction) : 0;
	bool lowers_top = is_call && !layout->ci_has_base;
	__u64 end = scratch->walk.top_func + 16 * (wanted ? wanted - 1 : 1);

	if (wanted == 1)
		return false;
	if (signs & LS_RESULT_ON_STACK)
		return true;
	if (signs & LS_RESULT_OFF_STACK && lowers_top &&
	    ls_word(scratch->state, layout->state_top) == end)
		return true;
	/* One result that nils were added to; one that was wanted, and a call's own nils, are not.
	 */
	if (signs & LS_RESULT_NIL && lowers_top && wanted > 2)
		return true;
	if (signs & LS_RESULTS_SHIFTED)
		return !wanted || wanted > 3;
	return signs & LS_RESULTS_FILLED && wanted == 5;
}

/*
 * Whether it is OP_TFORCALL (lopcodes.h, 5.2 on; 5.1: OP_TFORLOOP). OP_RETURN0, OP_RETURN1 and
 * OP_TFORPREP, new in 5.4, which has opcodes of 7 bits, precede it.
 */
static __always_inline bool is_iterator_call(const struct ls_puc_layout *layout, __u32 operation)
{
	return operation == layout->op_call + (layout->op_bits == 7 ? 8U : 5U);
}

/*
 * How the running function contradicts its caller, whose CallInfo this is: LS_WALK_FRAME_FUNCTION;
 * LS_BETWEEN_CALLS if its CallInfo is certainly that of an earlier call; 0 if it does not.
 */
static __always_inline int contradicts_caller(struct ls_scratch *scratch,
					      const struct ls_puc_layout *layout, const __u8 *ci)
{
	__u32 instruction, operation;
	bool is_call;

	/*
	 * A CallInfo that luaD_call has not filled in yet may be stale, from a time when its caller
	 * was higher up.
	 */
	if (scratch->walk.top_func <= func_of(scratch, layout, ci))
		return between_calls(scratch, layout, scratch->walk.top_func);
	if (scratch->walk.frame.kind == LS_FRAME_C)
		return scratch->walk.result_signs & (LS_RESULT_ON_STACK | LS_RESULTS_SHIFTED)
			       ? LS_WALK_FRAME_FUNCTION
			       : 0;
	/* A hook may be called at any instruction. */
	if (scratch->walk.frame.flags & LS_FRAME_HOOKED ||
	    !scratch->state[layout->state_allow_hook])
		return 0;
	/*
	 * OP_TAILCALL (lvm.c, up to 5.3) overwrites its caller's call with the new one before it
	 * leaves the new one.
	 */
	if (ls_word(ci, layout->ci_savedpc) == scratch->walk.frame_code)
		return LS_WALK_FRAME_FUNCTION;
	if (read_target(&instruction, sizeof(instruction), ls_word(ci, layout->ci_savedpc) - 4))
		return 0;
	operation = instruction & ((1U << (layout->op_bits & 7)) - 1);
	is_call = operation == layout->op_call;
	if (is_call || operation == layout->op_call + 1U) {
		if (is_called_elsewhere(scratch, layout, ci, instruction))
			return between_calls(scratch, layout, scratch->walk.top_func);
		if (is_call && is_left_above(scratch, layout, ci, instruction))
			return LS_WALK_FRAME_FUNCTION;
	} else if (!is_iterator_call(layout, operation)) {
		/* A metamethod or a finalizer has one result at most: none are shifted. */
		scratch->walk.result_signs &= ~(LS_RESULTS_SHIFTED | LS_RESULTS_FILLED);
	}
	return scratch->walk.result_signs && is_half_returned(scratch, layout, instruction, is_call)
		       ? LS_WALK_FRAME_FUNCTION
		       : 0;
}

/* Checks whether the running function agrees with its caller, which is in scratch->walk.frame. */
static __always_inline void check_top(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, const __u8 *ci)
{
	struct ls_walk *walk = &scratch->walk;
	int error;

	if (is_top_call(scratch, layout)) {
		walk->top_func = walk->chain_index ? 0 : func_before_yield(scratch, layout, ci);
		return;
	}
	error = walk->top_func ? contradicts_caller(scratch, layout, ci) : 0;
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
	const __u8 *ci;
	int error;

	if (walk->ci == walk->base_ci)
		return leave_state(scratch, layout);
	if (!walk->left) {
		note_error(scratch, LS_WALK_DEPTH);
		return 1;
	}
	error = decode_call(scratch, layout);
	ci = error == LS_WALK_CALL_CHAIN ? NULL : read_ci(scratch, layout);
	if (error)
		drop_frames(scratch, error);
	else
		put_frame(scratch);
	if (ci && !error && scratch->is_undecided)
		check_call(scratch, layout);
	if (ci && !error)
		check_top(scratch, layout, ci);
	if (!ci)
		walk->ci = 0;
	else if (layout->ci_is_array)
		walk->ci -= layout->ci_size;
	else
		walk->ci = ls_word(ci, layout->ci_previous);
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

/*
 * Whether a Lua function is on top and hooks are allowed: then nothing that it called can have
 * resumed another state. __noinline: verified once for all callers.
 */
__noinline int runs_lua_alone(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	if (!scratch || !layout || enter_state(scratch, layout, 0) ||
	    !scratch->state[layout->state_allow_hook] ||
	    scratch->walk.ci == scratch->walk.base_ci || calls_c(scratch, layout))
		return 0;
	return !decode_call(scratch, layout) && scratch->walk.frame.kind == LS_FRAME_LUA;
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
 * Adds the states that the reused chain has resumed since. A register mostly points to the running
 * state: if that runs a Lua function, no state is deeper. Returns LS_WALK_NONE or the error.
 */
static __always_inline int extend_chain(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	__u64 end = scratch->chain[0].anchor;

	search_registers(scratch, layout);
	if (scratch->chain[0].anchor < end && runs_lua_alone(scratch, layout))
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
	is_alone = stands && runs_lua_alone(scratch, layout);
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

/* Discards what an earlier stack has left behind. */
static __always_inline void begin_stack(struct ls_scratch *scratch)
{
	scratch->sample.error = LS_WALK_NONE;
	scratch->sample.state = 0;
	scratch->sample.vm = 0;
	scratch->sample.frame_count = 0;
	scratch->walk_number++;
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
