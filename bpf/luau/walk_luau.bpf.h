/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How Luau keeps its stack, and how it is walked (lstate.h).
 *
 * A lua_State has an array of CallInfos, from base_ci, which stands for the C code that entered
 * the state, to ci, the running call. Each tells where on the stack of values its function is and,
 * of a Lua function, the next instruction. So a walk goes down the array, and for each frame needs
 * the closure and the prototype, unless earlier samples have read them (proof.bpf.h); calls and
 * values are read in windows. It goes on with the state that resumed this one. Functions that the
 * compiler has inlined have no call.
 */
#ifndef LS_WALK_LUAU_BPF_H
#define LS_WALK_LUAU_BPF_H

#include "luau/frame_luau.bpf.h"

#include "current_pc.bpf.h"
#include "frame_room.bpf.h"

/* Calls and changes of states: LUAI_MAXCALLS (20,000), luaconf.h, in each of a chain's states. */
#define LS_CALLS_AT_ONCE 8192
#define LS_CALLS_PARTS   8

/* Bytes: far more machine code than CodeGen makes of one function. */
#define LS_MADE_CODE_MAX (16U << 20)

/* Moves the walk to the calls of scratch->state, which walk.sizes describes. */
static __always_inline void enter_calls(struct ls_scratch *scratch)
{
	struct ls_walk *walk = &scratch->walk;
	const struct ls_luau_state *state = &scratch->state;

	walk->ci = state->ci;
	walk->top_ci = state->ci;
	walk->base_ci = state->base_ci;
	walk->stack = state->stack;
	walk->moved = walk->sizes.moved;
	walk->stack_end = state->stack_last + walk->moved + LS_LUAU_EXTRA_STACK * walk->sizes.value;
}

/* Moves the walk to a state's calls. Returns 0, or 1: unreadable, or it contradicts itself. */
static __always_inline int enter_state(struct ls_scratch *scratch, __u32 chain_index)
{
	struct ls_walk *walk = &scratch->walk;

	if (chain_index >= LS_CHAIN_MAX)
		return 1;
	walk->chain_index = chain_index;
	scratch->calls.end = 0;
	scratch->stack.end = 0;
	if (read_active(scratch->chain[chain_index].state, &scratch->state, &walk->sizes))
		return 1;
	if (!chain_index) {
		walk->base = scratch->state.base;
		scratch->sample.memory_category = scratch->state.active_category;
	}
	enter_calls(scratch);
	return 0;
}

/* At the first call of a state, goes on with its resumer. Returns true if there is none. */
static __always_inline bool leave_state(struct ls_scratch *scratch)
{
	__u32 last = scratch->walk.last;

	if (scratch->walk.count && last < LS_DEPTH_MAX)
		scratch->frames[last].flags |= LS_FRAME_STATE_ROOT;
	if (scratch->walk.chain_index + 1 >= scratch->chain_count)
		return true;
	if (!enter_state(scratch, scratch->walk.chain_index + 1))
		return false;
	note_error(scratch, LS_WALK_STATE_MEMORY);
	return true;
}

/* Copies the CallInfo at walk.ci to scratch->call. Returns 0, or 1: unreadable. */
static __always_inline int copy_call(struct ls_scratch *scratch)
{
	struct ls_walk *walk = &scratch->walk;
	__u32 size = walk->sizes.ci == 48 ? 48 : 40;
	const __u8 *call = view(&scratch->calls, walk->ci, size, walk->base_ci);

	if (!call)
		return 1;
	__builtin_memcpy(scratch->call, call, LS_LUAU_CI_MAX);
	return 0;
}

/* Whether the call is at L->ci and has not begun: see has_begun(). */
static __always_inline bool is_beginning(struct ls_scratch *scratch)
{
	struct ls_walk *walk = &scratch->walk;
	const __u8 *base;

	if (walk->ci != walk->top_ci)
		return false;
	base = view(&scratch->calls, walk->ci - walk->sizes.ci + LS_LUAU_CI_BASE, 8, walk->base_ci);
	return base && !has_begun(&scratch->state, ls_luau_word(base, 0));
}

/*
 * Drops all frames so far, because the call at walk.ci contradicts itself: its callees cannot be
 * told from remains of earlier calls. Its callers remain valid.
 */
static __always_inline void drop_frames(struct ls_scratch *scratch, __u8 error)
{
	note_error(scratch, error);
	scratch->sample.frame_count = 0;
	scratch->walk.count = 0;
	scratch->walk.code = 0;
	scratch->walk.made_code = 0;
}

/* Walks one call, or steps to the resumer. 1: the end. */
static long walk_call(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_walk *walk = &scratch->walk;
	int error;

	if (walk->ci <= walk->base_ci)
		return leave_state(scratch);
	if (copy_call(scratch)) {
		scratch->sample.error = LS_WALK_CALL_CHAIN;
		return 1;
	}
	if (is_beginning(scratch)) {
		walk->top_ci -= walk->sizes.ci;
		walk->ci -= walk->sizes.ci;
		return 0;
	}
	error = take_call(scratch, pass->layout);
	if (error && error != LS_CALL_IS_OVER)
		drop_frames(scratch, error);
	else if (!error)
		put_frame(scratch);
	walk->ci -= walk->sizes.ci;
	return 0;
}
LS_STEP(walk_call);

/* A part of a walk: fewer steps than LS_ROUNDS_MAX. 1: the walk has ended. */
static long walk_calls(__u32 i, void *context)
{
	return repeat(LS_CALLS_AT_ONCE, walk_call, context) != LS_CALLS_AT_ONCE;
}
LS_STEP(walk_calls);

/* Walks the whole chain into scratch->sample and scratch->frames. */
static __always_inline void walk_chain(struct ls_scratch *scratch,
				       const struct ls_luau_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	scratch->walk.count = 0;
	scratch->walk.code = 0;
	scratch->walk.made_code = 0;
	if (enter_state(scratch, 0)) {
		note_error(scratch, LS_WALK_STATE_MEMORY);
		return;
	}
	if (repeat(LS_CALLS_PARTS, walk_calls, &pass) == LS_CALLS_PARTS)
		scratch->sample.error = LS_WALK_CALL_CHAIN;
	close_gap(scratch);
}

/* Discards what an earlier stack has left behind. */
static __always_inline void begin_stack(struct ls_scratch *scratch)
{
	scratch->sample.error = LS_WALK_NONE;
	scratch->sample.state = 0;
	scratch->sample.vm = 0;
	scratch->sample.memory_category = 0;
	scratch->sample.frame_count = 0;
	scratch->closures.end = 0;
	scratch->closures.near = 0;
	scratch->protos.end = 0;
	scratch->protos.near = 0;
	scratch->chain_count = 0;
	scratch->lua_frames = 0;
	scratch->walk.has_registers = 0;
	scratch->doubt = LS_DOUBT_NONE;
}

/* Notes the parts of the layout that are needed where it is not passed. */
static __always_inline void note_layout(struct ls_scratch *scratch,
					const struct ls_luau_layout *layout)
{
	scratch->types.string = layout->string_type;
	scratch->types.function = layout->function_type;
	scratch->debug_name = layout->closure_function + LS_LUAU_FUNCTION_TO_NAME;
}

/* Whether the walk is evidence for the layout; the self-check, if it ran, adds doubt. */
static __always_inline bool is_evidence(const struct ls_scratch *scratch)
{
	return scratch->lua_frames && scratch->walk.has_registers && !scratch->doubt &&
	       (!scratch->sample.error || scratch->sample.error == LS_WALK_DEPTH);
}

/* Corrects the pc of the running function. Not inlined, because stacks of callers add up. */
__noinline int correct_pc(struct ls_scratch *scratch, struct ls_thread *thread)
{
	if (scratch && thread)
		correct_leaf(scratch, thread);
	return 0;
}

/* Whether machine code made of script runs, or a C function that it called. See gc.bpf.h. */
static __always_inline int has_made_code(const struct ls_scratch *scratch)
{
	const struct ls_frame *frames = scratch->frames;

	return frames[0].flags & LS_FRAME_NATIVE ||
	       (frames[0].kind == LS_FRAME_C && scratch->sample.frame_count > 1 &&
		frames[1].flags & LS_FRAME_NATIVE);
}

/*
 * Whether the word may be an address in the machine code of the innermost function that has any.
 * Such functions call each other without a return address on the native stack, and what entered
 * the VM again has left its own further up.
 */
static __always_inline bool may_be_made_code(const struct ls_scratch *scratch, __u64 word)
{
	return scratch->walk.made_code && word - scratch->walk.made_code < LS_MADE_CODE_MAX;
}

/*
 * Whether that code runs, or what it called has not changed its registers yet: r15 is the lua_State
 * and r14 its base (EmitCommonX64.h). The collector needs these registers for itself.
 */
static __always_inline bool runs_made_code(const struct ls_scratch *scratch)
{
	return !LS_HAS_FRAME_RECORDS && scratch->registers[0] == scratch->chain[0].state &&
	       scratch->registers[1] == scratch->walk.base;
}

/* See select_layout.bpf.h. __noinline: verified once for all callers. */
__noinline int take_stack(struct ls_scratch *scratch, const struct ls_luau_layout *layout,
			  struct ls_thread *thread)
{
	int error;

	if (!scratch || !layout || !thread)
		return 0;
	begin_stack(scratch);
	note_layout(scratch, layout);
	error = find_chain(scratch, layout, thread);
	if (!error)
		error = order_chain(scratch, layout);
	note_error(scratch, error);
	if (error)
		return 0;
	if (scratch->search.is_cut)
		note_error(scratch, LS_WALK_RESUMERS);
	/* The running state is being moved: only its resumers can be found. */
	if (scratch->unsettled.is_here)
		note_error(scratch, LS_WALK_STATE_MEMORY);
	thread->root = scratch->chain[(scratch->chain_count - 1) % LS_CHAIN_MAX];
	walk_chain(scratch, layout);
	correct_pc(scratch, thread);
	scratch->sample.state = scratch->chain[0].state;
	scratch->sample.vm = scratch->chain[0].main_thread;
	return is_evidence(scratch);
}

#endif
