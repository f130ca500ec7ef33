/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How PUC Lua keeps its stack, and how it is walked.
 *
 * A lua_State has two stacks: one of values (L->stack .. L->top, 16-byte TValues) and one of
 * calls. Each call has a CallInfo: `func` points to the called function on the stack of values,
 * `savedpc` to the next instruction of a Lua function. Since 5.2 CallInfos are a doubly linked
 * list that starts with L->base_ci, which is embedded in the lua_State and stands for the C code
 * below the first call; L->ci is the running one. In 5.1 they are an array, base_ci .. ci, and
 * the running Lua function's pc is in L->savedpc instead. A Lua function is a closure that points
 * to its prototype (Proto: code, constants, source, lines); a C function is a closure with a C
 * pointer or, since 5.2, the pointer itself.
 *
 * So a walk goes from L->ci along `previous` to base_ci, reading for each call its CallInfo, the
 * closure and the prototype (three reads; the stack of values is read in windows), and goes on
 * with the state that resumed this one. Every loop ends with the room for frames, --max-depth.
 *
 * The target runs on between samples, not during one: what is read belongs together, except that
 * the interpreter may have been interrupted in the middle of entering a function. Then the
 * topmost CallInfo may be half written, which its own contradictions show; it alone is dropped.
 */
#ifndef LS_WALK_PUC_BPF_H
#define LS_WALK_PUC_BPF_H

#include "find_state.bpf.h"

/* The bytes [address, address + size) within the window, reading it anew where they are not. */
static __always_inline const __u8 *view(struct ls_window *window, __u64 address, __u32 size,
					__u64 low)
{
	__u64 start, offset;

	if (!(address >= window->start && address + size <= window->end)) {
		/* Callers lie lower: let the window end with what is asked for. */
		start = address + size - LS_WINDOW_BYTES;
		if (address + size < LS_WINDOW_BYTES || start < low || start > address)
			start = low;
		if (start > address || address + size - start > LS_WINDOW_BYTES)
			start = address;
		window->start = start;
		window->end = address + size;
		size = window->end - start;
		if (size > LS_WINDOW_BYTES || read_target(window->bytes, size, start)) {
			window->end = 0;
			return NULL;
		}
	}
	offset = address - window->start;
	if (offset > LS_WINDOW_BYTES)
		return NULL;
	return window->bytes + offset;
}

/* The first thing that is wrong with a sample is what it is filed under. */
static __always_inline void note_error(struct ls_scratch *scratch, __u8 error)
{
	if (!scratch->sample.error)
		scratch->sample.error = error;
}

/* Turns to a state's calls. 0, or 1: it cannot be read. */
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
	return 0;
}

/* The CallInfo that the walk stands at. An array of them is read many at a time, a list singly. */
static __always_inline const __u8 *read_ci(struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout)
{
	return view(&scratch->ci, scratch->walk.ci, layout->ci_size,
		    layout->ci_is_array ? scratch->walk.base_ci : scratch->walk.ci);
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

	if (layout->ci_status_size == 1)
		status &= 0xff;
	else if (layout->ci_status_size == 2)
		status &= 0xffff;
	return (status & layout->status_tail ? LS_FRAME_TAIL_CALLED : 0) |
	       (status & layout->status_hooked ? LS_FRAME_HOOKED : 0) |
	       (status & layout->status_finalizer ? LS_FRAME_FINALIZER : 0);
}

/*
 * Whether a prototype's content may be taken from the memo without reading it again. What has
 * stayed the same for long is looked at less often: at most every 64th part of that time, at least
 * every 20 ms, goes unproven.
 */
static __always_inline int is_fresh(const struct ls_memo *memo, __u64 now_ns)
{
	__u64 proven = memo->verified_ns - memo->since_ns;
	__u64 unproven = now_ns - memo->verified_ns;

	return unproven < 20000000 && unproven < proven / 64;
}

/* Sends what defines the prototype in scratch->proto and scratch->content. 0 or an error. */
static __always_inline long define_function(struct ls_scratch *scratch,
					    const struct ls_puc_layout *layout, __u64 proto,
					    __u64 fingerprint)
{
	struct ls_function *function = &scratch->function;

	function->type = LS_RECORD_FUNCTION;
	function->tgid = scratch->tgid;
	function->function = proto;
	function->fingerprint = fingerprint;
	function->shape = scratch->content.shape;
	function->line_defined = ls_half(scratch->proto, layout->proto_line_defined);
	function->last_line_defined = ls_half(scratch->proto, layout->proto_last_line_defined);
	function->source_length = scratch->content.source_length;
	function->layout = scratch->sample.layout;
	__builtin_memcpy(function->source, scratch->content.source, LS_SOURCE_LEN);
	return send_definition(function);
}

/* The memo's place for a prototype: one of two, the one that has not been asked for longer. */
static __always_inline struct ls_memo *memo_of(struct ls_scratch *scratch, __u64 proto)
{
	__u32 at = (proto >> 4 ^ proto >> 14) % LS_MEMO_MAX;
	struct ls_memo *first = &scratch->memo[at], *second = &scratch->memo[at ^ 1];

	if (first->proto == proto)
		return first;
	return second->proto == proto || second->verified_ns < first->verified_ns ? second : first;
}

/* Of the prototype at `proto`, whose copy is in scratch->proto; into scratch->walk.frame. */
__noinline int take_fingerprint(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				__u64 proto)
{
	struct ls_memo *memo;
	__u64 fixed;
	int is_known;

	if (!scratch || !layout)
		return 0;
	memo = memo_of(scratch, proto);
	fixed = ls_puc_fixed_fingerprint(layout, scratch->proto);
	is_known = memo->proto == proto && memo->fixed == fixed && memo->tgid == scratch->tgid;
	if (!is_known || !is_fresh(memo, scratch->now_ns)) {
		ls_puc_read_content(layout, 0, scratch->proto, &scratch->content);
		scratch->walk.frame.fingerprint = ls_fold(fixed, scratch->content.hash);
		if (!is_known || memo->content != scratch->content.hash) {
			/* Unsent, it stays unknown, so that the next sample tries again. */
			memo->proto = define_function(scratch, layout, proto,
						      scratch->walk.frame.fingerprint)
					      ? 0
					      : proto;
			memo->fixed = fixed;
			memo->content = scratch->content.hash;
			memo->tgid = scratch->tgid;
			memo->since_ns = scratch->now_ns;
		}
		memo->verified_ns = scratch->now_ns;
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, memo->content);
	return 0;
}

/* A Lua function: its prototype must own the instruction that its CallInfo stands at. */
static __always_inline int lua_frame(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				     const __u8 *ci)
{
	struct ls_frame *frame = &scratch->walk.frame;
	__u64 proto = ls_word(scratch->closure, layout->closure_proto);
	__u64 saved_pc = ls_word(ci, layout->ci_savedpc);
	__u64 code, offset;

	if (!is_pointer(proto) || read_target(scratch->proto, layout->proto_size, proto))
		return LS_WALK_FRAME_MEMORY;
	code = ls_word(scratch->proto, layout->proto_code);
	if (layout->state_savedpc && scratch->walk.ci == ls_word(scratch->state, layout->state_ci))
		saved_pc = ls_word(scratch->state, layout->state_savedpc);
	offset = saved_pc - code;
	if (scratch->proto[8] != layout->proto_tag || !code || offset & 3 ||
	    offset > 4ULL * ls_half(scratch->proto, layout->proto_code_count))
		return LS_WALK_FRAME_PROTO;
	frame->function = proto;
	frame->pc = offset ? offset / 4 - 1 : 0;
	frame->kind = LS_FRAME_LUA;
	scratch->walk.lua_frames++;
	take_fingerprint(scratch, layout, proto);
	return LS_WALK_NONE;
}

static __always_inline int closure_frame(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *ci,
					 __u64 closure, __u8 tag)
{
	__u8 is_c = tag == layout->tag_c_function;

	if (!is_pointer(closure) || read_target(scratch->closure, 48, closure))
		return LS_WALK_FRAME_MEMORY;
	if (scratch->closure[8] != (tag & 63))
		return LS_WALK_FRAME_FUNCTION;
	if (layout->closure_is_c)
		is_c = scratch->closure[layout->closure_is_c];
	if (!is_c)
		return lua_frame(scratch, layout, ci);
	scratch->walk.frame.function = ls_word(scratch->closure, layout->closure_function);
	scratch->walk.frame.kind = LS_FRAME_C;
	return LS_WALK_NONE;
}

static __always_inline int call_frame(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, const __u8 *ci)
{
	struct ls_frame *frame = &scratch->walk.frame;
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 func = func_of(scratch, layout, ci);
	const __u8 *value;
	__u8 tag;

	if (func < stack || func > ls_word(scratch->state, layout->state_stack_last) || func & 7)
		return LS_WALK_FRAME_FUNCTION;
	value = view(&scratch->stack, func, 16, stack);
	if (!value)
		return LS_WALK_FRAME_MEMORY;
	tag = value[8];
	frame->fingerprint = 0;
	frame->pc = 0;
	frame->flags = flags_of(layout, ci);
	frame->padding = 0;
	if (layout->tag_light_function && tag == layout->tag_light_function) {
		frame->function = *(const __u64 *)value;
		frame->kind = LS_FRAME_C;
		return LS_WALK_NONE;
	}
	if (tag != layout->tag_lua_function && tag != layout->tag_c_function)
		return LS_WALK_FRAME_FUNCTION;
	return closure_frame(scratch, layout, ci, *(const __u64 *)value, tag);
}

/*
 * Decodes the call that the walk stands at, into scratch->walk.frame. LS_WALK_NONE or what is
 * wrong with it: LS_WALK_CALL_CHAIN if not even its CallInfo is there.
 */
__noinline int decode_call(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	const __u8 *ci;

	if (!scratch || !layout)
		return LS_WALK_CALL_CHAIN;
	ci = read_ci(scratch, layout);
	return ci ? call_frame(scratch, layout, ci) : LS_WALK_CALL_CHAIN;
}

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

static __always_inline void mark_state_root(struct ls_scratch *scratch)
{
	__u32 last = scratch->sample.frame_count - 1;

	if (last < LS_DEPTH_MAX)
		scratch->frames[last].flags |= LS_FRAME_STATE_ROOT;
}

/* At the first call of a state the walk goes on with its resumer. 1: there is none. */
static __always_inline int leave_state(struct ls_scratch *scratch,
				       const struct ls_puc_layout *layout)
{
	mark_state_root(scratch);
	if (scratch->walk.chain_index + 1 >= scratch->chain_count)
		return 1;
	if (!enter_state(scratch, layout, scratch->walk.chain_index + 1))
		return 0;
	note_error(scratch, LS_WALK_STATE_MEMORY);
	return 1;
}

/* One CallInfo, or the step to the resumer. 1: the end. */
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
	if (error)
		note_error(scratch, error);
	else
		put_frame(scratch);
	ci = error == LS_WALK_CALL_CHAIN ? NULL : read_ci(scratch, layout);
	if (!ci)
		return 1;
	walk->ci =
		layout->ci_is_array ? walk->ci - layout->ci_size : ls_word(ci, layout->ci_previous);
	if (is_pointer(walk->ci) && (!layout->ci_is_array || walk->ci >= walk->base_ci))
		return 0;
	scratch->sample.error = LS_WALK_CALL_CHAIN;
	return 1;
}

/* The same from the root towards the leaf, for stacks with more frames than there is room. */
static long walk_call_from_root(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	const struct ls_puc_layout *layout = pass->layout;
	struct ls_walk *walk = &scratch->walk;
	const __u8 *ci;

	if (!walk->left)
		return 1;
	if (walk->ci != walk->base_ci) {
		/* A frame that cannot be decoded leaves its place empty: kind 0. */
		if (decode_call(scratch, layout))
			walk->frame.kind = 0;
		put_frame(scratch);
	}
	if (walk->ci == ls_word(scratch->state, layout->state_ci)) {
		if (!walk->chain_index || enter_state(scratch, layout, walk->chain_index - 1))
			return 1;
		walk->ci = walk->base_ci;
	}
	ci = read_ci(scratch, layout);
	if (!ci)
		return 1;
	walk->ci = layout->ci_is_array ? walk->ci + layout->ci_size : ls_word(ci, layout->ci_next);
	return !is_pointer(walk->ci);
}

/* The place of a frame that is not there. */
static long clear_place(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	__u32 at = scratch->frame_room / 2 + 1 + i;

	if (at < LS_DEPTH_MAX)
		scratch->frames[at].kind = 0;
	return 0;
}

/*
 * More frames than room: the leaf's half stays, a placeholder follows, the rest is taken from the
 * root. Frames are stored leaf first, so the root's go to the end, downward.
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
	scratch->walk.left = room - half - 1;
	if (!enter_state(scratch, pass->layout, scratch->chain_count - 1)) {
		scratch->walk.ci = scratch->walk.base_ci;
		repeat(LS_DEPTH_MAX + LS_CHAIN_MAX, walk_call_from_root, pass);
	}
	repeat(scratch->walk.left, clear_place, pass);
}

/* Walks the whole chain into scratch->sample and scratch->frames. */
static __always_inline int walk_chain(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return 0;
	scratch->walk.left = scratch->frame_room;
	scratch->walk.lua_frames = 0;
	scratch->walk.from_root = 0;
	if (enter_state(scratch, layout, 0)) {
		note_error(scratch, LS_WALK_STATE_MEMORY);
		return 0;
	}
	repeat(LS_DEPTH_MAX + LS_CHAIN_MAX, walk_call, &pass);
	if (!scratch->walk.left && scratch->walk.ci != scratch->walk.base_ci)
		add_root_part(&pass);
	return 0;
}

/* A Lua function on top, and hooks allowed: nothing that it called can have resumed another. */
static __always_inline int runs_lua_alone(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout)
{
	if (!scratch->state[layout->state_allow_hook] || enter_state(scratch, layout, 0) ||
	    scratch->walk.ci == scratch->walk.base_ci)
		return 0;
	return !decode_call(scratch, layout) && scratch->walk.frame.kind == LS_FRAME_LUA;
}

/* Whether the function at `func` is a C function that holds `child`: coroutine.resume, .wrap. */
static __always_inline int holds(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				 __u64 func, __u64 child)
{
	__u64 values[4]; /* the function and its first argument */
	__u64 upvalue;
	__u8 tag;

	if (read_target(values, sizeof(values), func))
		return 0;
	if (values[2] == child && ((__u8)values[3] & 63) == LS_THREAD_TAG)
		return 1;
	tag = values[1];
	return tag == layout->tag_c_function &&
	       !read_target(&upvalue, sizeof(upvalue), values[0] + layout->closure_function + 8) &&
	       upvalue == child;
}

/* One link of the chain; 1: without proof, and the chain ends before it. */
static long prove_resumer(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	const struct ls_puc_layout *layout = pass->layout;
	__u64 child = scratch->chain[i % LS_CHAIN_MAX].state;
	const __u8 *ci;

	if (!enter_state(scratch, layout, i + 1)) {
		ci = read_ci(scratch, layout);
		if (ci && holds(scratch, layout, func_of(scratch, layout, ci), child))
			return 0;
	}
	scratch->chain_count = i + 1;
	scratch->search.is_cut = 1;
	return 1;
}

/*
 * Coroutines of C may have their stacks side by side in one mapping, each with states of its own
 * that are active as far as errorJmp tells. Only the lowest is certain there. What lies above it
 * resumed it if its running C function holds it; else the chain ends.
 */
static __always_inline void prove_resumers(struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	__u32 count = scratch->chain_count;

	if (count > 1 && count <= LS_CHAIN_MAX)
		repeat(count - 1, prove_resumer, &pass);
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

/* The chain of active states into scratch->chain. LS_WALK_NONE or what is wrong. */
static __always_inline int find_chain(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, struct ls_thread *thread)
{
	int error = LS_WALK_NONE;

	search_begin(scratch, thread);
	if (chain_stands(scratch, layout, thread)) {
		if (!runs_lua_alone(scratch, layout))
			search_below(scratch, layout);
		scratch->search.is_cut |= thread->chain_is_cut;
	} else {
		error = search_stack(scratch, layout, thread);
	}
	if (error) {
		thread->chain_count = 0;
		return error;
	}
	if (!thread->own_stack)
		prove_resumers(scratch, layout);
	remember_chain(thread, scratch);
	return LS_WALK_NONE;
}

/*
 * The stack of this sample under one layout, into scratch->sample. Returns 1 if it is evidence
 * for that layout: a whole chain with a Lua function in it and nothing contradictory.
 */
static __always_inline int take_stack_puc(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout,
					  struct ls_thread *thread)
{
	int error;

	if (!scratch || !layout || !thread)
		return 0;
	scratch->sample.error = LS_WALK_NONE;
	scratch->sample.state = 0;
	scratch->sample.frame_count = 0;
	scratch->state_address = 0;
	scratch->ci.end = 0;
	scratch->stack.end = 0;
	scratch->chain_count = 0;
	scratch->walk.lua_frames = 0;
	error = find_chain(scratch, layout, thread);
	note_error(scratch, error);
	if (error)
		return 0;
	walk_chain(scratch, layout);
	if (scratch->search.is_cut)
		note_error(scratch, LS_WALK_RESUMERS);
	scratch->sample.state = scratch->chain[0].state;
	error = scratch->sample.error;
	return scratch->walk.lua_frames && (!error || error == LS_WALK_DEPTH);
}

#endif
