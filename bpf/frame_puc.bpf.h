/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes a call of PUC Lua: its CallInfo, the function on the stack of values, the prototype and
 * its fingerprint (fingerprint_puc.h). Rejects what contradicts itself.
 */
#ifndef LS_FRAME_PUC_BPF_H
#define LS_FRAME_PUC_BPF_H

#include "standing_chain_puc.bpf.h"

#include "proto_cache.bpf.h"
#include "window.bpf.h"

#define LS_BETWEEN_CALLS 0xff /* beside enum ls_walk_error: see between_calls() */

/* A sample keeps the first error that occurs. */
static __always_inline void note_error(struct ls_scratch *scratch, __u8 error)
{
	if (!scratch->sample.error)
		scratch->sample.error = error;
}

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

	if (layout->ci_status_size == 1)
		status &= 0xff;
	else if (layout->ci_status_size == 2)
		status &= 0xffff;
	return (status & layout->status_tail ? LS_FRAME_TAIL_CALLED : 0) |
	       (status & layout->status_hooked ? LS_FRAME_HOOKED : 0) |
	       (status & layout->status_finalizer ? LS_FRAME_FINALIZER : 0);
}

/* Sends the definition of the prototype in scratch->proto and ->content. Returns 0 or an error. */
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
	function->name_length = 0;
	function->layout = scratch->sample.layout;
	function->family = LS_FAMILY;
	__builtin_memcpy(function->text, scratch->content.source, LS_SOURCE_LEN);
	return send_definition(function);
}

/*
 * Puts the fingerprint of the prototype at `proto` into scratch->walk.frame: it covers the content
 * and `fixed`. Leaves a copy in scratch->proto if it reads the content. Returns LS_WALK_NONE or the
 * error.
 */
__noinline int take_fingerprint(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				__u64 proto, __u64 fixed)
{
	struct ls_cached_proto *cached;
	bool is_known;

	if (!scratch || !layout)
		return 0;
	cached = find_cached_proto(scratch, proto);
	is_known = is_cached_proto(cached, proto, scratch->tgid) && cached->fixed == fixed &&
		   cached->layout == scratch->sample.layout && cached->edition == scratch->edition;
	if (!is_known || !is_fresh(cached, scratch)) {
		if (read_target(scratch->proto, layout->proto_size, proto))
			return LS_WALK_FRAME_MEMORY;
		ls_puc_read_content(layout, 0, scratch->proto, &scratch->content);
		scratch->walk.frame.fingerprint = ls_fold(fixed, scratch->content.hash);
		if (!is_known || cached->content != scratch->content.hash) {
			/* If not sent, it stays unknown, so that the next sample tries again. */
			cached->proto = define_function(scratch, layout, proto,
							scratch->walk.frame.fingerprint)
						? 0
						: proto;
			cached->fixed = fixed;
			cached->content = scratch->content.hash;
			cached->tgid = scratch->tgid;
			cached->layout = scratch->sample.layout;
			cached->edition = scratch->edition;
			cached->since_ns = scratch->now_ns;
			cached->own_since_ns = 0;
		}
		cached->verified_ns = scratch->now_ns;
		cached->own_verified_ns = scratch->own_ns;
		if (!cached->own_since_ns)
			cached->own_since_ns = scratch->own_ns;
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, cached->content);
	return 0;
}

static __always_inline bool is_top_call(const struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	return scratch->walk.ci == ls_word(scratch->state, layout->state_ci);
}

/* The self-check uses copies with nothing else behind them. Returns 0, or 1 if unreadable. */
static __always_inline int keep_copy(const struct ls_scratch *scratch, __u8 *copy, __u64 address,
				     __u32 size)
{
	return scratch->is_undecided && read_target(copy, size, address);
}

/* Reads the prototype of `closure`. Returns LS_WALK_NONE or the error. */
static __always_inline int read_prototype(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, const __u8 *closure,
					  struct ls_cached_closure *cached)
{
	__u64 address = ls_word(closure, layout->closure_proto);
	const __u8 *proto;

	cached->closure = 0;
	if (!is_pointer(address))
		return LS_WALK_FRAME_MEMORY;
	proto = view_object(&scratch->protos, address, layout->proto_size);
	if (!proto || keep_copy(scratch, scratch->proto, address, layout->proto_size))
		return LS_WALK_FRAME_MEMORY;
	cached->proto = address;
	cached->code = ls_word(proto, layout->proto_code);
	cached->code_count = ls_half(proto, layout->proto_code_count);
	if (proto[8] != layout->proto_tag || !cached->code)
		return LS_WALK_FRAME_PROTO;
	cached->fixed = ls_puc_fixed_fingerprint(layout, proto);
	return LS_WALK_NONE;
}

/* Puts the call into scratch->walk.frame. The pc must be inside the prototype's code. */
static __always_inline int lua_frame(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				     const __u8 *ci, const struct ls_cached_closure *cached)
{
	struct ls_walk *walk = &scratch->walk;
	struct ls_frame *frame = &walk->frame;
	__u64 size = 4ULL * cached->code_count;
	__u64 saved_pc = ls_word(ci, layout->ci_savedpc);
	__u64 offset;

	if (layout->state_savedpc && is_top_call(scratch, layout))
		saved_pc = ls_word(scratch->state, layout->state_savedpc);
	offset = saved_pc - cached->code;
	if (offset & 3 || offset > size)
		return LS_WALK_FRAME_PROTO;
	if (layout->has_local_pc && !walk->chain_index && is_top_call(scratch, layout)) {
		walk->code = cached->code;
		walk->code_end = cached->code + size;
	}
	frame->function = cached->proto;
	frame->pc = offset ? offset / 4 - 1 : 0;
	frame->kind = LS_FRAME_LUA;
	walk->frame_code = cached->code;
	scratch->lua_frames++;
	return LS_WALK_NONE;
}

/* Operand C of OP_CALL: the number of results wanted plus 1; 0: all there are. */
static __always_inline __u32 results_operand(const struct ls_puc_layout *layout, __u32 instruction)
{
	return instruction >> (layout->op_results & 31) &
	       ((1U << (layout->op_results_bits & 15)) - 1);
}

/* Signs that a C function is just being returned: it, or other results, are above their place. */
#define LS_RESULT_ON_STACK  1
#define LS_RESULT_OFF_STACK 2 /* past `top` */
#define LS_RESULTS_SHIFTED  4
#define LS_RESULTS_FILLED   8  /* and a fourth is added */
#define LS_RESULT_NIL       16 /* a nil has its bits */

/*
 * Returns LS_RESULT_* by where the C function is among the results, the first of which is at
 * `first`. `top` is the end of the stack in use. A nil keeps the bits of what it replaced: it may
 * pad results, or be an argument of an iterator. __noinline: verified once for all callers.
 */
__noinline int signs_of_function(const struct ls_scratch *scratch, __u64 first, __u64 top,
				 __u64 function)
{
	int signs = 0;

	if (!scratch)
		return 0;
	for (__u32 i = 0; i < LS_RESULTS_MAX; i++) {
		const struct ls_value *result = &scratch->results[i];

		if (result->value != function)
			continue;
		if (LS_TYPE(result->tag) == LS_TYPE_NIL)
			signs |= LS_RESULT_NIL;
		else
			signs |= first + i * sizeof(*result) < top ? LS_RESULT_ON_STACK
								   : LS_RESULT_OFF_STACK;
	}
	return signs;
}

/*
 * Detects results that were two places higher before, so that the third has overwritten the first:
 * pairs(t) has [pairs, t, next, t, nil], then [next, t, nil, t, nil]; if four are wanted, nil
 * overwrites the second t. (5.5 adds a nil, which does the same if all results are wanted: too
 * little is left then to tell.)
 */
static __always_inline __u32 signs_of_shift(const struct ls_value *values, __u64 height)
{
	if (height < 3 || height > 6 || !(values[0].tag & LS_COLLECTABLE) ||
	    values[1].value != values[3].value)
		return 0;
	if (values[2].value == values[0].value)
		return LS_RESULTS_SHIFTED;
	return values[2].tag & 0xff && values[2].value != values[4].value ? 0 : LS_RESULTS_FILLED;
}

/*
 * moveresults (ldo.c, 5.4) copies the results to the place of the returning function, value first,
 * and only then lowers `top` and leaves the call; earlier releases leave it first, if the compiler
 * keeps that order. A C function among the results, as of pairs() and ipairs(), would look like the
 * running one. This collects the signs; the caller's frame decides (is_half_returned).
 */
static __always_inline void look_for_results(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout, const __u8 *ci,
					     __u64 function)
{
	struct ls_value *values = scratch->results;
	const __u32 size = sizeof(scratch->results);
	__u64 first = func_of(scratch, layout, ci) + sizeof(*values);
	__u64 top = ls_word(scratch->state, layout->state_top);
	__u32 signs;

	if (scratch->walk.chain_index || scratch->walk.is_suspended ||
	    !is_top_call(scratch, layout) || read_target(values, size, first))
		return;
	signs = signs_of_function(scratch, first, top, function) |
		signs_of_shift(values, (top - first) / sizeof(*values) + 1);
	first = top - size;
	if (!(signs & ~LS_RESULT_NIL) && first > func_of(scratch, layout, ci) &&
	    top <= ls_word(scratch->state, layout->state_stack_last) &&
	    !read_target(values, size, first))
		signs |= signs_of_function(scratch, first, top, function) & LS_RESULT_ON_STACK;
	scratch->walk.result_signs = signs;
}

/* Decodes a closure that is not in the closure cache, and caches what later frames need of it. */
static __always_inline int new_closure_frame(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout, const __u8 *ci,
					     __u64 address, __u8 tag,
					     struct ls_cached_closure *cached)
{
	__u32 size = layout->closure_proto + sizeof(__u64);
	__u8 is_c = tag == layout->tag_c_function;
	const __u8 *closure;
	int error;

	if (!is_pointer(address))
		return LS_WALK_FRAME_MEMORY;
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
	error = read_prototype(scratch, layout, closure, cached);
	if (!error)
		error = lua_frame(scratch, layout, ci, cached);
	if (error)
		return error;
	error = take_fingerprint(scratch, layout, cached->proto, cached->fixed);
	if (error)
		return error;
	cached->fingerprint = scratch->walk.frame.fingerprint;
	cached->walk = scratch->walk_number;
	cached->closure = address;
	return LS_WALK_NONE;
}

static __always_inline int closure_frame(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *ci,
					 __u64 closure, __u8 tag)
{
	struct ls_cached_closure *cached =
		&scratch->closure_cache[(closure >> 5 ^ closure >> 10) % LS_CLOSURE_CACHE_MAX];

	/* The self-check needs the copies, which only new_closure_frame() makes. */
	if (cached->closure == closure && cached->walk == scratch->walk_number &&
	    !scratch->is_undecided) {
		scratch->walk.frame.fingerprint = cached->fingerprint;
		return lua_frame(scratch, layout, ci, cached);
	}
	return new_closure_frame(scratch, layout, ci, closure, tag, cached);
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

	return is_top_call(scratch, layout) && top >= stack && top <= last && func >= top &&
	       func <= last;
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

static __always_inline bool is_on_stack(const struct ls_scratch *scratch,
					const struct ls_puc_layout *layout, __u64 address)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);

	return address >= stack && !((address - stack) & 15) &&
	       address <= ls_word(scratch->state, layout->state_stack_last);
}

/*
 * Whether luaD_reallocstack (ldo.c) may be moving the values: it corrects what points to them one
 * after the other, `func` of the running call, given here, first and that of the state's first call
 * last (5.1: the other way round), and L->stack before them (up to 5.3) or after them. Until then,
 * the values are in memory that has been freed, whose owner may have written to it.
 */
static __always_inline bool is_moving(const struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, __u64 func)
{
	__u64 first;

	return layout->ci_is_array || !is_on_stack(scratch, layout, func) ||
	       read_target(&first, sizeof(first), scratch->walk.base_ci + layout->ci_func) ||
	       first != ls_word(scratch->state, layout->state_stack);
}

/*
 * What a running call is that has no function at `func`, or an earlier call's: LS_BETWEEN_CALLS.
 * luaD_precall (ldo.c) makes a CallInfo the running one before it fills it in, and moveresults (5.4
 * on) puts the results in the function's place before it leaves the call. Either way, what runs is
 * the instruction or the C function that calls. lua_yieldk (5.2 and 5.3), which moves `func`, sets
 * the status first: then, and while the layout is in question, it is LS_WALK_FRAME_FUNCTION.
 */
static __always_inline int between_calls(const struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, __u64 func)
{
	return scratch->walk.is_suspended || scratch->is_undecided ||
			       scratch->state[layout->state_status] ||
			       is_moving(scratch, layout, func)
		       ? LS_WALK_FRAME_FUNCTION
		       : LS_BETWEEN_CALLS;
}

/*
 * The error of a call without a function at `func`. The first call of a state has no caller that
 * could run, and its function is where an allocator writes when the values' old memory is freed.
 */
static __always_inline int without_function(const struct ls_scratch *scratch,
					    const struct ls_puc_layout *layout, const __u8 *ci,
					    __u64 func)
{
	return is_top_call(scratch, layout) && !scratch->walk.chain_index &&
			       ls_word(ci, layout->ci_previous) != scratch->walk.base_ci
		       ? between_calls(scratch, layout, func)
		       : LS_WALK_FRAME_FUNCTION;
}

static __always_inline int call_frame(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, const __u8 *ci)
{
	struct ls_frame *frame = &scratch->walk.frame;
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 func = func_before_yield(scratch, layout, ci);
	const __u8 *value;
	__u8 tag;

	if (!is_pointer(func) || is_left_over(scratch, layout, func))
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

/* Whether the call that the walk is at is one of a C function, as far as the value's tag tells. */
static __always_inline bool calls_c(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	const __u8 *ci = read_ci(scratch, layout), *value;

	if (!ci)
		return false;
	value = view(&scratch->stack, func_of(scratch, layout, ci), 16,
		     ls_word(scratch->state, layout->state_stack));
	if (!value || (layout->closure_is_c && value[8] == layout->tag_c_function))
		return false;
	return value[8] == layout->tag_c_function ||
	       (layout->tag_light_function && value[8] == layout->tag_light_function);
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
	return ci ? call_frame(scratch, layout, ci) : LS_WALK_CALL_CHAIN;
}

#endif
