/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes a call of PUC Lua: its CallInfo, the function on the stack of values, and the prototype.
 * Rejects what contradicts itself.
 */
#ifndef LS_FRAME_PUC_BPF_H
#define LS_FRAME_PUC_BPF_H

#include "puc/between_calls_puc.bpf.h"
#include "puc/prototype_puc.bpf.h"

#include "closure_cache.bpf.h"

/* Puts the call into scratch->walk.frame, but for the fingerprint. */
static __always_inline void put_lua_call(struct ls_scratch *scratch,
					 const struct ls_lua_function *function, __u64 saved_pc)
{
	struct ls_frame *frame = &scratch->walk.frame;
	__u64 offset = saved_pc - function->code;

	frame->function = function->proto;
	frame->pc = offset ? offset / 4 - 1 : 0;
	frame->kind = LS_FRAME_LUA;
	scratch->walk.frame_code = function->code;
	scratch->lua_frames++;
}

/* Decodes a call of the function in walk.closure_read. The pc must be inside its code. */
static __always_inline int lua_frame(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				     const __u8 *ci)
{
	struct ls_walk *walk = &scratch->walk;
	const struct ls_lua_function *function = &walk->closure_read.function;
	__u64 saved_pc = ls_word(ci, layout->ci_savedpc);

	if (layout->state_savedpc && is_top_call(scratch, layout))
		saved_pc = ls_word(scratch->state, layout->state_savedpc);
	if (!owns_pc(function, saved_pc))
		return has_callers_pc(scratch, layout, saved_pc) ? LS_BETWEEN_CALLS
								 : LS_WALK_FRAME_PROTO;
	if (layout->has_local_pc && !walk->chain_index && is_top_call(scratch, layout)) {
		walk->code = function->code;
		walk->code_end = function->code + 4ULL * function->code_count;
	}
	put_lua_call(scratch, function, saved_pc);
	return LS_WALK_NONE;
}

/* Decodes a call of a closure by reading this, and caches what later frames need of it. */
static __always_inline int new_closure_frame(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout, const __u8 *ci,
					     __u64 address, __u8 tag)
{
	__u32 size = layout->closure_proto + sizeof(__u64);
	__u8 is_c = tag == layout->tag_c_function;
	const __u8 *closure;
	int error;

	begin_closure(scratch, address);
	closure = view_object(&scratch->closures, address, size);
	if (!closure || keep_copy(scratch, scratch->closure, address, size))
		return LS_WALK_FRAME_MEMORY;
	if (closure[LS_OBJECT_TAG] != LS_WITHOUT_COLLECTABLE(tag))
		return LS_WALK_FRAME_FUNCTION;
	if (layout->closure_is_c)
		is_c = closure[layout->closure_is_c];
	if (is_c) {
		scratch->walk.frame.function = ls_word(closure, layout->closure_function);
		if (scratch->is_undecided)
			scratch->walk.frame.function =
				ls_word(scratch->closure, layout->closure_function);
		scratch->walk.frame.kind = LS_FRAME_C;
		/* ldo.c, luaD_precall (5.1): `tailcalls` is set for Lua functions only. */
		if (layout->ci_is_array)
			scratch->walk.frame.flags = 0;
		look_for_results(scratch, layout, ci, address);
		return LS_WALK_NONE;
	}
	error = read_prototype(scratch, layout, closure);
	if (!error)
		error = lua_frame(scratch, layout, ci);
	if (!error)
		error = take_fingerprint(scratch, layout, scratch->walk.closure_read.function.proto,
					 scratch->walk.fixed);
	if (!error)
		keep_closure(scratch, address);
	return error;
}

static __always_inline int closure_frame(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *ci,
					 __u64 closure, __u8 tag)
{
	const struct ls_cached_closure *cached = find_cached_closure(scratch, closure);
	__u64 saved_pc = ls_word(ci, layout->ci_savedpc);

	if (!is_pointer(closure))
		return LS_WALK_FRAME_MEMORY;
	if (is_known_caller(cached, scratch, closure, saved_pc)) {
		scratch->walk.frame.fingerprint = cached->function.fingerprint;
		put_lua_call(scratch, &cached->function, saved_pc);
		return LS_WALK_NONE;
	}
	return new_closure_frame(scratch, layout, ci, closure, tag);
}

/*
 * luaD_precall (ldo.c, 5.2 and 5.3) makes a CallInfo the running one before it fills it in: until
 * then it holds an earlier call, whose function may be at or above the present `top`.
 */
static __always_inline bool is_left_over(const struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, __u64 func)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 last = ls_word(scratch->state, layout->state_stack_last);
	__u64 top = ls_word(scratch->state, layout->state_top);

	return top >= stack && top <= last && func >= top && func <= last;
}

/*
 * Whether the function of the running call is not on this state's stack. luaD_precall makes a
 * CallInfo the running one before it fills it in. A CallInfo that is used for the first time, such
 * as a coroutine's first, then still holds what its memory held before, perhaps a call of another
 * state. A stack that is being moved looks the same (is_moving()).
 */
static __always_inline bool is_from_elsewhere(const struct ls_scratch *scratch,
					      const struct ls_puc_layout *layout, __u64 func)
{
	return !scratch->walk.chain_index && !is_on_stack(scratch, layout, func);
}

static __always_inline bool is_function_tag(const struct ls_puc_layout *layout, __u8 tag)
{
	return tag == layout->tag_lua_function || tag == layout->tag_c_function ||
	       (layout->tag_light_function && tag == layout->tag_light_function);
}

/*
 * lua_yieldk (ldo.c, 5.2 and 5.3) moves `func` of the yielding C function right below its results,
 * and saves its original position in `extra`. A scheduler in C that calls functions on a state that
 * has yielded, as nmap's does, leaves such a call among the running ones.
 */
static __always_inline const __u8 *value_before_yield(struct ls_scratch *scratch,
						      const struct ls_puc_layout *layout,
						      const __u8 *ci, __u64 func)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 extra = ls_word(ci, layout->ci_extra);
	const __u8 *value;

	/* 5.2.0 has no tag that identifies C closures. */
	if (!layout->ci_extra || layout->closure_is_c ||
	    scratch->state[layout->state_status] != LS_YIELDED || is_top_call(scratch, layout) ||
	    extra & 15 || extra >= func - stack)
		return NULL;
	value = view(&scratch->stack, stack + extra, 16, stack);
	return value && is_function_tag(layout, value[8]) && value[8] != layout->tag_lua_function
		       ? value
		       : NULL;
}

/*
 * The same for a coroutine that waits to be resumed: the C function that yielded is on top, and the
 * value right below its results may be a function as well. If a hook yielded, a Lua function is on
 * top, whose `func` has not moved. No sample is taken of such a coroutine.
 */
static __always_inline __u64 func_before_yield(const struct ls_scratch *scratch,
					       const struct ls_puc_layout *layout, const __u8 *ci)
{
#ifdef __bpf__
	return func_of(scratch, layout, ci);
#else
	__u64 stack = ls_word(scratch->state, layout->state_stack);

	if (!scratch->walk.is_suspended || !layout->ci_extra || !is_top_call(scratch, layout) ||
	    ls_half(ci, layout->ci_status) & layout->status_lua)
		return func_of(scratch, layout, ci);
	return stack + ls_word(ci, layout->ci_extra);
#endif
}

static __always_inline int call_frame(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, const __u8 *ci)
{
	struct ls_frame *frame = &scratch->walk.frame;
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 func = func_before_yield(scratch, layout, ci);
	bool is_top = is_top_call(scratch, layout);
	const __u8 *value;
	__u8 tag;

	if (is_top && is_from_elsewhere(scratch, layout, func))
		return LS_WALK_FRAME_FUNCTION;
	if (!is_pointer(func) || (is_top && is_left_over(scratch, layout, func)))
		return without_function(scratch, layout, ci, func);
	value = view(&scratch->stack, func, 16, stack);
	if (!value)
		return LS_WALK_FRAME_MEMORY;
	if (!is_function_tag(layout, value[8]))
		value = value_before_yield(scratch, layout, ci, func);
	if (!value)
		return without_function(scratch, layout, ci, func);
	tag = value[8];
	frame->fingerprint = 0;
	frame->pc = 0;
	frame->flags = flags_of(layout, ci);
	frame->padding = 0;
	if (layout->tag_light_function && tag == layout->tag_light_function) {
		frame->function = *(const __u64 *)value;
		frame->kind = LS_FRAME_C;
		look_for_results(scratch, layout, ci, frame->function);
		return LS_WALK_NONE;
	}
	return closure_frame(scratch, layout, ci, *(const __u64 *)value, tag);
}

/*
 * Decodes the call that the walk is at into scratch->walk.frame. Returns LS_WALK_NONE,
 * LS_BETWEEN_CALLS, or the error, which is LS_WALK_CALL_CHAIN if not even the CallInfo can be read.
 */
__noinline int decode_call(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	const __u8 *ci;

	if (!scratch || !layout)
		return LS_WALK_CALL_CHAIN;
	ci = read_ci(scratch, layout);
	scratch->walk.callers_ci = 0;
	if (!ci)
		return LS_WALK_CALL_CHAIN;
	scratch->walk.callers_ci = layout->ci_is_array ? scratch->walk.ci - layout->ci_size
						       : ls_word(ci, layout->ci_previous);
	return call_frame(scratch, layout, ci);
}

#endif
