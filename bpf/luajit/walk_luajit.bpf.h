/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How LuaJIT 2.1 keeps its stack, and how it is walked (lj_frame.h).
 *
 * A lua_State has one stack, of values of 8 bytes. The registers of a function begin at its base;
 * in the two slots below are the function and a link to its caller. If the caller is a Lua
 * function, the link is the address of the instruction after the call, whose operand A tells how
 * far down the caller's base is. Otherwise the link is that distance, with the type of the frame in
 * its lowest bits: called by C code, by a metamethod or the like (then the caller's next
 * instruction is below the function), by pcall(); or a second frame of the same function, which had
 * its arguments moved.
 *
 * So a walk goes from BASE (find_base_luajit.bpf.h) down to the start of the stack, and for each
 * frame needs the closure, the prototype and the call instruction, unless earlier samples have read
 * them (proof.bpf.h); the stack is read in windows. It goes on with the state that resumed this
 * one. If C code called a Lua function, the C frame of the VM that ran the caller has the caller's
 * next instruction.
 */
#ifndef LS_WALK_LUAJIT_BPF_H
#define LS_WALK_LUAJIT_BPF_H

#include "luajit/trace_luajit.bpf.h"

/* Frames and changes of states: LJ_STACK_MAX (65,500) slots of two or more, lj_state.c. */
#define LS_FRAMES_AT_ONCE 8192
#define LS_FRAMES_PARTS   6

/* C frames without a frame on the stack of values, one after the other. */
#define LS_CPCALLS_MAX 4

#include "frame_room.bpf.h"

/*
 * Whether an error was thrown out of the function at walk.base, so that its caller pcall() goes on:
 * L->base is pcall()'s again, and the message is where the function was (err_unwind(), lj_err.c).
 * The C library unwinds the native stack after that, which takes longer than the rest of a throw,
 * and what is below its frames still points to the function.
 */
static __always_inline bool is_thrown_out_of(const struct ls_scratch *scratch, __u64 link)
{
	return !scratch->walk.chain_index && (link & LS_LINK_FLAGS) >= LS_LINK_PCALL &&
	       link < LS_LINK_MAX &&
	       scratch->walk.base - (link & ~LS_LINK_FLAGS) == scratch->state.base;
}

/*
 * Drops all frames so far, because the one at walk.base contradicts itself: its callees cannot be
 * told from remains of earlier calls. Its callers remain valid.
 */
static __always_inline void drop_frames(struct ls_scratch *scratch, __u64 link, __u8 error)
{
	if (!is_thrown_out_of(scratch, link))
		note_error(scratch, error);
	scratch->sample.frame_count = 0;
	scratch->walk.count = 0;
}

/* Returns the slots of a frame on the stack of values, or NULL if they cannot be read. */
static __always_inline const __u64 *read_slots(struct ls_scratch *scratch, __u64 address)
{
	if (address & 7)
		return NULL;
	if (scratch->trace.is_on && address >= scratch->trace.start)
		return overlaid_slots(scratch, address);
	return (const __u64 *)view(&scratch->stack, address, LS_FRAME_BYTES, scratch->walk.stack);
}

/* The C frame before the one in walk.cframe. */
static __always_inline __u64 previous_cframe(const struct ls_pass *pass)
{
	__u32 at = pass->layout->cframe_previous - (__u32)LS_LUAJIT_CFRAME_REST;

	return at / 8 < sizeof(pass->scratch->walk.cframe.rest) / 8
		       ? pass->scratch->walk.cframe.rest[at / 8] & ~LS_CFRAME_FLAGS
		       : 0;
}

/* Steps over the C frames of lj_vm_cpcall(), which have no frame on the stack of values. */
static long skip_cpcall(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_walk *walk = &pass->scratch->walk;
	__s64 height = -(__s64)walk->cframe.results;
	__u64 previous;

	if (walk->cframe.results >= 0 || walk->base - 8 >= walk->stack + height)
		return 1;
	previous = previous_cframe(pass);
	return !is_pointer(previous) || read_target(&walk->cframe, sizeof(walk->cframe), previous);
}
LS_STEP(skip_cpcall);

/* C code called the function that the walk left: its caller ran in the VM's previous C frame. */
static __always_inline void leave_cframe(struct ls_pass *pass)
{
	struct ls_walk *walk = &pass->scratch->walk;
	__u64 previous = previous_cframe(pass);

	if (!is_pointer(previous) || read_target(&walk->cframe, sizeof(walk->cframe), previous))
		walk->cframe = (struct ls_luajit_cframe){};
	repeat(LS_CPCALLS_MAX, skip_cpcall, pass);
	walk->pc = walk->cframe.pc;
}

/*
 * Returns the distance in bytes from the base of a Lua function to the base of what it calls by the
 * instruction before `pc`; 0: unreadable. Also reads what precedes the instruction in its page:
 * usually, the caller's prototype. Where a known distance is out of date, the function found does
 * not own `pc`, and the sample is torn.
 */
static __always_inline __u64 distance_to_caller(struct ls_scratch *scratch, __u64 pc)
{
	struct ls_cached_site *site =
		&scratch->site_cache[(pc >> 2 ^ pc >> 12) % LS_SITE_CACHE_MAX];
	bool was_cached = site->pc == pc && is_of_sample(&site->proof, scratch);
	__u64 at = pc - 4, pair = at & ~7ULL, distance;
	const __u32 *instructions;

	if (was_cached && !scratch->is_undecided && is_fresh_briefly(&site->proof, scratch))
		return site->distance;
	site->pc = 0;
	instructions = (const void *)view(&scratch->protos, pair, 8, pair & ~(LS_PAGE_BYTES - 1));
	if (!instructions)
		return 0;
	distance = LS_FRAME_BYTES + 8 * (instructions[at >> 2 & 1] >> 8 & 0xff);
	if (!was_cached || site->distance != distance)
		begin_proof(&site->proof, scratch);
	mark_verified_briefly(&site->proof, scratch);
	site->distance = distance;
	site->pc = pc;
	return distance;
}

/* The caller's base, computed from a link; 0: unreadable. */
static __always_inline __u64 caller_below(struct ls_scratch *scratch, __u64 base, __u64 link)
{
	__u64 distance = link & ~LS_LINK_FLAGS;

	if ((link & LS_LINK_TYPE) == LS_LINK_LUA)
		distance = distance_to_caller(scratch, link);
	return distance ? base - distance : 0;
}

/* Steps from the frame at walk.base to its caller's by this link. Returns 0, or 1: no link. */
static __always_inline int follow_link(struct ls_pass *pass, __u64 link)
{
	struct ls_scratch *scratch = pass->scratch;
	struct ls_walk *walk = &scratch->walk;
	__u64 base = walk->base, below = caller_below(scratch, base, link);
	const __u64 *slots;

	if (!below || below >= base || below & 7 || below < walk->stack + LS_FRAME_BYTES)
		return 1;
	walk->base = below;
	walk->pc = 0;
	if ((link & LS_LINK_TYPE) == LS_LINK_LUA) {
		if (below == walk->stack + LS_FRAME_BYTES)
			return 1; /* no Lua function is there that could have called */
		walk->pc = link;
	} else if ((link & LS_LINK_TYPE) == LS_LINK_C) {
		leave_cframe(pass);
	} else if ((link & LS_LINK_FLAGS) == LS_LINK_CONT) {
		/* [continuation, pc, function, link]; 1: called back from C. */
		slots = read_slots(scratch, base - 2 * LS_FRAME_BYTES);
		if (slots && function_at(slots) == 1)
			leave_cframe(pass);
		else if (slots)
			walk->pc = link_at(slots);
	}
	return 0;
}

/* Moves the walk to the stack of values of scratch->state. */
static __always_inline void enter_stack(struct ls_scratch *scratch, __u64 pc)
{
	struct ls_walk *walk = &scratch->walk;

	scratch->trace.is_on = 0;
	scratch->stack.end = 0;
	walk->native_from = ~0ULL;
	walk->stack = scratch->state.stack;
	walk->stack_end = walk->stack + 8ULL * scratch->state.stack_size;
	walk->base = scratch->state.base;
	walk->pc = pc;
}

/* Moves the walk to a state's frames. Returns 0, or 1: unreadable, or it contradicts itself. */
static __always_inline int enter_state(struct ls_scratch *scratch, __u32 chain_index)
{
	struct ls_walk *walk = &scratch->walk;

	if (chain_index >= LS_CHAIN_MAX)
		return 1;
	walk->chain_index = chain_index;
	if (read_active(scratch, scratch->chain[chain_index].state, &scratch->state, &walk->cframe))
		return 1;
	enter_stack(scratch, walk->cframe.pc);
	return 0;
}

/* At the first frame of a state, goes on with its resumer. Returns true if there is none. */
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

/* A dummy frame, in an error message or a tail call of a metamethod, holds the state. */
static __always_inline bool is_dummy(const struct ls_scratch *scratch, __u64 value)
{
#ifdef LS_NARROW
	return value == scratch->chain[scratch->walk.chain_index % LS_CHAIN_MAX].state;
#else
	return value >> LS_LUAJIT_TYPE_SHIFT == LS_LUAJIT_TYPE(LS_LUAJIT_THREAD);
#endif
}

#ifdef LS_NARROW
/*
 * Like is_thrown_out_of(), but if the message has replaced the link as well: moves the walk to
 * pcall(), at L->base. Returns whether it did.
 */
static __always_inline bool go_on_at_catcher(struct ls_scratch *scratch, __u64 link)
{
	struct ls_walk *walk = &scratch->walk;
	__u64 base = scratch->state.base;

	if (walk->chain_index || link < LS_VALUE_TYPES || walk->base <= base ||
	    !read_candidate(scratch, base) || scratch->base.candidate.is_lua ||
	    (scratch->base.candidate.link & LS_LINK_TYPE) == LS_LINK_VARARG)
		return false;
	scratch->sample.frame_count = 0;
	walk->count = 0;
	walk->base = base;
	walk->pc = 0;
	return true;
}
#endif

/* Walks one frame, or steps to the resumer. 1: the end. */
static long walk_frame(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_walk *walk = &scratch->walk;
	const __u64 *slots;
	__u64 link, below;
	int error;

	if (walk->base <= walk->stack + LS_FRAME_BYTES)
		return leave_state(scratch);
	slots = read_slots(scratch, walk->base - LS_FRAME_BYTES);
	if (!slots) {
		scratch->sample.error = LS_WALK_CALL_CHAIN;
		return 1;
	}
	link = link_at(slots);
#ifdef LS_NARROW
	if (go_on_at_catcher(scratch, link))
		return 0;
#endif
	if (!is_dummy(scratch, function_at(slots))) {
		error = decode_function(scratch, function_at(slots));
		if (walk->base >= walk->native_from && walk->frame.kind == LS_FRAME_LUA)
			walk->frame.flags |= LS_FRAME_NATIVE;
		if (error)
			drop_frames(scratch, link, error);
		else
			put_frame(scratch);
	}
	/* A vararg function has two frames, the upper one with its registers. */
	if ((link & LS_LINK_FLAGS) == LS_LINK_VARARG) {
		below = walk->base - (link & ~LS_LINK_FLAGS);
		slots = below < walk->base && is_base(walk, below)
				? read_slots(scratch, below - LS_FRAME_BYTES)
				: NULL;
		link = slots ? link_at(slots) : LS_LINK_VARARG;
		walk->base = below;
	}
	if (link != LS_LINK_VARARG && !follow_link(pass, link))
		return 0;
	scratch->sample.error = LS_WALK_CALL_CHAIN;
	return 1;
}
LS_STEP(walk_frame);

/* A part of a walk: fewer steps than LS_ROUNDS_MAX. 1: the walk has ended. */
static long walk_frames(__u32 i, void *context)
{
	return repeat(LS_FRAMES_AT_ONCE, walk_frame, context) != LS_FRAMES_AT_ONCE;
}
LS_STEP(walk_frames);

/* The VM's state as releases number it. A fork's additional states are the interpreter's. */
static __always_inline __s32 known_state(const struct ls_luajit_layout *layout, __s32 vm_state)
{
	if (vm_state >= LS_LUAJIT_IN_INTERPRETER)
		return vm_state;
	vm_state += layout->more_states;
	return vm_state > LS_LUAJIT_IN_INTERPRETER ? LS_LUAJIT_IN_INTERPRETER : vm_state;
}

/* Reads the VM's state from global_State. Returns 0, or 1: unreadable. */
static __always_inline int read_global(struct ls_scratch *scratch,
				       const struct ls_luajit_layout *layout)
{
	struct ls_luajit_global *global = &scratch->global;
	__u32 current = layout->global_current, jit_base = layout->global_jit_base;
	__u32 vm_state = layout->global_vm_state;

	global->address = scratch->state.global;
	if (current > LS_LUAJIT_GLOBAL_MAX - 8 || jit_base > LS_LUAJIT_GLOBAL_MAX - 8 ||
	    vm_state > LS_LUAJIT_GLOBAL_MAX - 8 ||
	    read_target(scratch->global_bytes + LS_LUAJIT_GLOBAL_FROM,
			LS_LUAJIT_GLOBAL_MAX - LS_LUAJIT_GLOBAL_FROM,
			global->address + LS_LUAJIT_GLOBAL_FROM))
		return 1;
	global->vm_state = known_state(layout, *(const __s32 *)(scratch->global_bytes + vm_state));
	global->current = *(const ls_luajit_ref_t *)(scratch->global_bytes + current);
	global->jit_base = *(const ls_luajit_ref_t *)(scratch->global_bytes + jit_base);
	if (layout->has_jit_state && !global->current) {
		global->current = scratch->chain[0].state;
		global->jit_base = 0;
	}
	return 0;
}

/*
 * Checks that cur_L is a state of this VM, and jit_base a place on its stack, or 0. That is so
 * under one layout only, since these members are next to other pointers.
 */
static __always_inline void check_global(struct ls_scratch *scratch)
{
	const struct ls_luajit_global *global = &scratch->global;
	struct ls_luajit_state *state = &scratch->other_state;

	if (read_target(state, sizeof(*state), global->current) || state->gct != LS_LUAJIT_THREAD ||
	    state->ffid != LS_LUAJIT_FF_C || state->global != global->address) {
		doubt(scratch, LS_DOUBT_GLOBAL);
		return;
	}
	if (global->jit_base &&
	    (global->jit_base < scratch->walk.stack || global->jit_base >= scratch->walk.stack_end))
		doubt(scratch, LS_DOUBT_GLOBAL);
	if (global->vm_state < LS_LUAJIT_IN_ASSEMBLER - 2)
		doubt(scratch, LS_DOUBT_GLOBAL);
}

/*
 * What the VM does. Its state stays "recording" while the interpreter executes the instruction that
 * it has recorded: the compiler itself runs in a protected call (trace_state(), lj_trace.c), whose
 * C frame, the innermost, has no frame on the stack of values.
 */
static __always_inline __u8 activity_of(__s32 vm_state, __s32 results)
{
	if (vm_state == LS_LUAJIT_IN_GC)
		return LS_ACTIVITY_GC;
	if (vm_state == LS_LUAJIT_IN_EXIT)
		return LS_ACTIVITY_TRACE_EXIT;
	if (vm_state <= LS_LUAJIT_IN_RECORDER && vm_state >= LS_LUAJIT_IN_ASSEMBLER && results < 0)
		return LS_ACTIVITY_COMPILER;
	return LS_ACTIVITY_NONE;
}

/* Walks from the frame that the walk is at to the root. */
static __always_inline void walk_to_root(struct ls_pass *pass)
{
	if (repeat(LS_FRAMES_PARTS, walk_frames, pass) == LS_FRAMES_PARTS)
		pass->scratch->sample.error = LS_WALK_CALL_CHAIN;
	close_gap(pass->scratch);
}

/* Walks the whole chain into scratch->sample and scratch->frames. */
static __always_inline void walk_chain(struct ls_scratch *scratch,
				       const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_walk *walk = &scratch->walk;
	__u8 activity;
	int error;

	walk->count = 0;
	if (enter_state(scratch, 0) || read_global(scratch, layout)) {
		note_error(scratch, LS_WALK_STATE_MEMORY);
		return;
	}
	if (scratch->is_undecided)
		check_global(scratch);
	activity = activity_of(scratch->global.vm_state, walk->cframe.results);
	repeat(LS_CPCALLS_MAX, skip_cpcall, &pass);
	error = find_base(scratch, layout);
	if (error) {
		scratch->sample.error =
			error == LS_WALK_REGISTERS ? LS_WALK_REGISTERS : LS_WALK_CALL_CHAIN;
		return;
	}
	walk->base = scratch->base.base;
	walk->pc = scratch->base.pc;
	if (walk->in_trace) {
		walk->native_from = walk->base;
		if (!scratch->global.jit_base || resolve_trace(scratch, layout))
			note_error(scratch, LS_WALK_TRACE);
	}
	walk_to_root(&pass);
	if (scratch->sample.frame_count)
		scratch->sample.activity = activity;
}

/* Discards what an earlier stack has left behind. */
static __always_inline void begin_stack(struct ls_scratch *scratch)
{
	scratch->sample.error = LS_WALK_NONE;
	scratch->sample.state = 0;
	scratch->sample.vm = 0;
	scratch->sample.frame_count = 0;
	scratch->sample.activity = LS_ACTIVITY_NONE;
	scratch->stack.end = 0;
	scratch->closures.end = 0;
	scratch->closures.near = 0;
	scratch->protos.end = 0;
	scratch->protos.near = 0;
	scratch->chain_count = 0;
	scratch->lua_frames = 0;
	scratch->doubt = LS_DOUBT_NONE;
}

/* Whether the walk is evidence for the layout; the self-check, if it ran, adds doubt. */
static __always_inline bool is_evidence(const struct ls_scratch *scratch)
{
	__u8 error = scratch->sample.error;

	return scratch->lua_frames && !scratch->doubt &&
	       (!error || error == LS_WALK_DEPTH || error == LS_WALK_TRACE);
}

/* See select_layout.bpf.h. __noinline: verified once for all callers. */
__noinline int take_stack(struct ls_scratch *scratch, const struct ls_luajit_layout *layout,
			  struct ls_thread *thread)
{
	int error;

	if (!scratch || !layout || !thread)
		return 0;
	begin_stack(scratch);
	scratch->content.string_text = layout->string_text;
	scratch->content.op_iterc = layout->op_iterc;
	error = find_chain(scratch, layout, thread);
	note_error(scratch, error);
	if (error)
		return 0;
	if (scratch->search.is_cut)
		note_error(scratch, LS_WALK_RESUMERS);
	walk_chain(scratch, layout);
	scratch->sample.state = scratch->chain[0].state;
	scratch->sample.vm = scratch->chain[0].main_thread;
	return is_evidence(scratch);
}

#endif
