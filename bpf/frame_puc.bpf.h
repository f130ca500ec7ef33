/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One call of PUC Lua: its CallInfo, the function on the stack of values, the prototype and what
 * makes it this one (fingerprint_puc.h). What contradicts itself is refused.
 */
#ifndef LS_FRAME_PUC_BPF_H
#define LS_FRAME_PUC_BPF_H

#include "find_state.bpf.h"

#define LS_PAGE_BYTES  4096ULL /* or a multiple */
#define LS_COLLECTABLE 64      /* BIT_ISCOLLECTABLE of a value's tag, lobject.h, 5.2 on */

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
#ifndef __bpf__
		if (window->is_exact)
			start = address;
#endif
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

/*
 * Whether the running call lies in the array of calls. luaD_reallocCI (ldo.c, 5.1) tells where the
 * array has moved to before it tells where the running call is: in between lie other calls'
 * remains.
 */
static __always_inline int is_in_array(const struct ls_scratch *scratch,
				       const struct ls_puc_layout *layout)
{
	__u64 offset = scratch->walk.ci - scratch->walk.base_ci;
	__u64 room = ls_half(scratch->state, layout->state_ci_room);

	return offset < room * layout->ci_size && offset % layout->ci_size == 0;
}

/* Turns to a state's calls. 0, or 1: it cannot be read, or contradicts itself. */
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
 * The CallInfo that the walk stands at. Many are read at a time: those of a list, allocated one
 * after the other when a program first calls deeper, mostly lie close together. What lies before
 * one in its page is there as well.
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

/* `unproven`: time since it was looked at; `proven`: that it had been the same by then. */
static __always_inline int is_trusted(__u64 unproven, __u64 proven)
{
	return !unproven || (unproven < 20000000 && unproven < proven / 64);
}

/*
 * Whether a prototype's content may be taken from the memo without reading it again. What has
 * stayed the same for long is looked at less often: at most every 64th part of that time, at least
 * every 20 ms, goes unproven; of that time, or of the time in which anybody could have written it.
 */
static __always_inline int is_fresh(const struct ls_memo *memo, const struct ls_scratch *scratch)
{
	if (is_trusted(scratch->now_ns - memo->verified_ns, memo->verified_ns - memo->since_ns))
		return 1;
	return scratch->own_ns && memo->own_verified_ns &&
	       is_trusted(scratch->own_ns - memo->own_verified_ns,
			  memo->own_verified_ns - memo->own_since_ns);
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

static __always_inline int is_memo_of(const struct ls_memo *memo, __u64 proto, __u32 tgid)
{
	return memo->proto == proto && memo->tgid == tgid;
}

/*
 * The memo's place for a prototype: one of two, the one that has not been asked for longer. What
 * was forked by one process, as servers do, has its prototypes at the same addresses.
 */
static __always_inline struct ls_memo *memo_of(struct ls_scratch *scratch, __u64 proto)
{
	__u32 tgid = scratch->tgid;
	__u32 at = ls_fold(tgid, proto) % LS_MEMO_MAX;
	struct ls_memo *first = &scratch->memo[at], *second = &scratch->memo[at ^ 1];

	if (is_memo_of(first, proto, tgid))
		return first;
	return is_memo_of(second, proto, tgid) || second->verified_ns < first->verified_ns ? second
											   : first;
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
	is_known = is_memo_of(memo, proto, scratch->tgid) && memo->fixed == fixed &&
		   memo->layout == scratch->sample.layout && memo->edition == scratch->edition;
	if (!is_known || !is_fresh(memo, scratch)) {
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
			memo->layout = scratch->sample.layout;
			memo->edition = scratch->edition;
			memo->since_ns = scratch->now_ns;
			memo->own_since_ns = 0;
		}
		memo->verified_ns = scratch->now_ns;
		memo->own_verified_ns = scratch->own_ns;
		if (!memo->own_since_ns)
			memo->own_since_ns = scratch->own_ns;
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, memo->content);
	return 0;
}

static __always_inline int is_top_call(const struct ls_scratch *scratch,
				       const struct ls_puc_layout *layout)
{
	return scratch->walk.ci == ls_word(scratch->state, layout->state_ci);
}

/* Reads the prototype of the closure in scratch->closure. LS_WALK_NONE, or what is wrong. */
static __always_inline int read_prototype(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, struct ls_met *met)
{
	__u64 proto = ls_word(scratch->closure, layout->closure_proto);

	met->closure = 0;
	if (!is_pointer(proto) || read_target(scratch->proto, layout->proto_size, proto))
		return LS_WALK_FRAME_MEMORY;
	met->proto = proto;
	met->code = ls_word(scratch->proto, layout->proto_code);
	met->code_count = ls_half(scratch->proto, layout->proto_code_count);
	return scratch->proto[8] == layout->proto_tag && met->code ? LS_WALK_NONE
								   : LS_WALK_FRAME_PROTO;
}

/* Puts the call into scratch->walk.frame: the prototype must own the instruction it stands at. */
static __always_inline int lua_frame(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				     const __u8 *ci, const struct ls_met *met)
{
	struct ls_walk *walk = &scratch->walk;
	struct ls_frame *frame = &walk->frame;
	__u64 size = 4ULL * met->code_count;
	__u64 saved_pc = ls_word(ci, layout->ci_savedpc);
	__u64 offset;

	if (layout->state_savedpc && is_top_call(scratch, layout))
		saved_pc = ls_word(scratch->state, layout->state_savedpc);
	offset = saved_pc - met->code;
	if (offset & 3 || offset > size)
		return LS_WALK_FRAME_PROTO;
	if (layout->has_local_pc && !walk->chain_index && is_top_call(scratch, layout)) {
		walk->code = met->code;
		walk->code_end = met->code + size;
	}
	frame->function = met->proto;
	frame->pc = offset ? offset / 4 - 1 : 0;
	frame->kind = LS_FRAME_LUA;
	walk->frame_code = met->code;
	walk->lua_frames++;
	return LS_WALK_NONE;
}

/* Signs of a function that is being returned: it lies above its own place, or others do. */
#define LS_RESULT_ON_STACK  1
#define LS_RESULT_OFF_STACK 2 /* past `top` */
#define LS_RESULTS_SHIFTED  4
#define LS_RESULTS_FILLED   8  /* and a fourth is added */
#define LS_RESULT_NIL       16 /* a nil has its bits */

/*
 * Where that C function is among the results, of which the first lies at `first`, and `top` after
 * the last: signs. A nil has the bits of what it replaced: it may fill up results, or be what an
 * iterator is called with. Verified once, for all its callers.
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
		if (!(result->tag & 15))
			signs |= LS_RESULT_NIL;
		else
			signs |= first + i * sizeof(*result) < top ? LS_RESULT_ON_STACK
								   : LS_RESULT_OFF_STACK;
	}
	return signs;
}

/*
 * Results that lay two places above where they lie now, of which the third has covered the first:
 * pairs(t) has [pairs, t, next, t, nil], then [next, t, nil, t, nil]; where four are wanted, nil
 * covers the second t. (5.5 adds a nil, which does so as well where all that there are are wanted:
 * too little is left then to tell.)
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
 * moveresults (ldo.c, 5.4) copies the results to where the function that returns was, value first,
 * and only then lowers `top` and leaves the call; earlier releases leave it first, if the compiler
 * lets them. A C function as result, such as those of pairs() and ipairs(), would look like the one
 * that runs: what tells of it is for its caller to judge (is_half_returned).
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

static __always_inline int read_closure(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout, __u64 closure, __u8 tag)
{
	if (!is_pointer(closure) ||
	    read_target(scratch->closure, layout->closure_proto + sizeof(__u64), closure))
		return LS_WALK_FRAME_MEMORY;
	return scratch->closure[8] == (tag & 63) ? LS_WALK_NONE : LS_WALK_FRAME_FUNCTION;
}

/* A closure that was read: what it is, and what of it later frames need not read again. */
static __always_inline int new_closure_frame(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout, const __u8 *ci,
					     __u64 closure, __u8 tag, struct ls_met *met)
{
	__u8 is_c = tag == layout->tag_c_function;
	int error;

	if (layout->closure_is_c)
		is_c = scratch->closure[layout->closure_is_c];
	if (is_c) {
		scratch->walk.frame.function = ls_word(scratch->closure, layout->closure_function);
		scratch->walk.frame.kind = LS_FRAME_C;
		/* ldo.c, luaD_precall (5.1): `tailcalls` is set for Lua functions alone. */
		if (layout->ci_is_array)
			scratch->walk.frame.flags = 0;
		look_for_results(scratch, layout, ci, closure);
		return LS_WALK_NONE;
	}
	error = read_prototype(scratch, layout, met);
	if (!error)
		error = lua_frame(scratch, layout, ci, met);
	if (error)
		return error;
	take_fingerprint(scratch, layout, met->proto);
	met->fingerprint = scratch->walk.frame.fingerprint;
	met->walk = scratch->walk_number;
	met->closure = closure;
	return LS_WALK_NONE;
}

static __always_inline int closure_frame(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *ci,
					 __u64 closure, __u8 tag)
{
	struct ls_met *met = &scratch->met[(closure >> 5 ^ closure >> 10) % LS_MET_MAX];
	int error;

	/* The self-check looks at the copies. */
	if (met->closure == closure && met->walk == scratch->walk_number &&
	    !scratch->is_undecided) {
		scratch->walk.frame.fingerprint = met->fingerprint;
		return lua_frame(scratch, layout, ci, met);
	}
	error = read_closure(scratch, layout, closure, tag);
	return error ? error : new_closure_frame(scratch, layout, ci, closure, tag, met);
}

/*
 * luaD_precall (ldo.c, 5.2 and 5.3) makes a CallInfo the running one before it fills it in: until
 * then it is that of an earlier call, whose function may lie where no value is now.
 */
static __always_inline int is_left_over(const struct ls_scratch *scratch,
					const struct ls_puc_layout *layout, __u64 func)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 last = ls_word(scratch->state, layout->state_stack_last);
	__u64 top = ls_word(scratch->state, layout->state_top);

	return is_top_call(scratch, layout) && top >= stack && top <= last && func >= top &&
	       func <= last;
}

static __always_inline int is_function_tag(const struct ls_puc_layout *layout, __u8 tag)
{
	return tag == layout->tag_lua_function || tag == layout->tag_c_function ||
	       (layout->tag_light_function && tag == layout->tag_light_function);
}

/*
 * lua_yieldk (ldo.c, 5.2 and 5.3) lets the C function that yields start right below its results,
 * and keeps in `extra` where it was called. A scheduler in C that calls functions on a state that
 * has yielded, as nmap's does, leaves such a call among those that run.
 */
static __always_inline const __u8 *value_before_yield(struct ls_scratch *scratch,
						      const struct ls_puc_layout *layout,
						      const __u8 *ci, __u64 func)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 extra = ls_word(ci, layout->ci_extra);
	const __u8 *value;

	/* 5.2.0 has no tag that tells closures of C. */
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
 * The same of a coroutine that waits to be resumed: the C function that yielded is the one on top,
 * and what lies right below its results may be a function as well. A hook that yields leaves a Lua
 * function on top, which has not moved. No sample is taken of such a coroutine.
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
	const __u8 *value;
	__u8 tag;

	if (!is_pointer(func) || is_left_over(scratch, layout, func))
		return LS_WALK_FRAME_FUNCTION;
	value = view(&scratch->stack, func, 16, stack);
	if (!value)
		return LS_WALK_FRAME_MEMORY;
	if (!is_function_tag(layout, value[8]))
		value = value_before_yield(scratch, layout, ci, func);
	if (!value)
		return LS_WALK_FRAME_FUNCTION;
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

#endif
