/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decodes a call of Luau: the function and its prototype. Rejects what contradicts itself. */
#ifndef LS_FRAME_LUAU_BPF_H
#define LS_FRAME_LUAU_BPF_H

#include "luau/c_function_luau.bpf.h"
#include "luau/results_luau.bpf.h"

#include "closure_cache.bpf.h"

#define LS_CALL_IS_OVER 0xff /* beside enum ls_walk_error: the function is just returning */

/* Whether it is the topmost call of the running state. */
static __always_inline int is_running_call(const struct ls_walk *walk)
{
	return walk->ci == walk->top_ci && !walk->chain_index;
}

/*
 * Whether a call with these flags may be one of a function with that Proto: only what has machine
 * code runs as such. nresults, beside them, is -1 in all calls that a host makes.
 */
static __always_inline bool may_have_flags(const struct ls_luau_layout *layout, const __u8 *proto,
					   __u32 flags)
{
	return flags <= LS_LUAU_FLAGS_MAX &&
	       (!(flags & LS_LUAU_FLAG_NATIVE) || !layout->proto_native ||
		ls_luau_word(proto, layout->proto_native));
}

/* CallInfo.flags; 0 in calls of functions that have no machine code. */
static __always_inline __u32 flags_of_call(const struct ls_scratch *scratch)
{
	return ls_luau_half(scratch->call, pc_at(scratch) + 12);
}

/* luau_execute() does not enter machine code of what a debugger steps through. */
static __always_inline bool is_native(const struct ls_scratch *scratch)
{
	return flags_of_call(scratch) & LS_LUAU_FLAG_NATIVE && !scratch->state.single_step;
}

/* Puts a call of the function that goes on at `pc` into walk.frame, but for the fingerprint. */
static __always_inline void put_lua_call(struct ls_scratch *scratch,
					 const struct ls_lua_function *function, __u64 pc)
{
	struct ls_walk *walk = &scratch->walk;

	walk->frame.function = function->proto;
	walk->frame.kind = LS_FRAME_LUA;
	walk->frame.pc = pc > function->code ? (pc - function->code) / 4 - 1 : LS_PC_UNKNOWN;
	if (is_native(scratch))
		walk->frame.flags = LS_FRAME_NATIVE;
	scratch->lua_frames++;
}

/* Copies what a frame needs of the Proto at `address` to walk.closure_read. */
static __always_inline void note_function(struct ls_scratch *scratch,
					  const struct ls_luau_layout *layout, __u64 address,
					  const __u8 *proto)
{
	struct ls_lua_function *function = &scratch->walk.closure_read.function;

	function->proto = address;
	function->code = ls_luau_word(proto, layout->proto_code);
	function->code_count = ls_luau_half(proto, layout->proto_code_count);
}

/*
 * Puts the Lua function of the call in scratch->call into walk.frame. `address` is that of its
 * closure's Proto; the call may have one of its own, which the VM has made of it. LS_WALK_NONE or
 * the error.
 */
static __always_inline int lua_frame(struct ls_scratch *scratch,
				     const struct ls_luau_layout *layout, __u64 address)
{
	struct ls_walk *walk = &scratch->walk;
	struct ls_lua_function *function = &walk->closure_read.function;
	__u64 pc = next_pc(scratch), own = 0;
	const __u8 *proto = view_proto(scratch, layout, address);
	bool is_running = is_running_call(walk);

	if (!proto)
		return LS_WALK_FRAME_PROTO;
	note_function(scratch, layout, address, proto);
	if (walk->sizes.ci == 48)
		own = ls_luau_word(scratch->call, LS_LUAU_CI_PROTO);
	if (pc && !owns_pc(function, pc) && own && own != address) {
		proto = view_proto(scratch, layout, own);
		if (proto)
			note_function(scratch, layout, own, proto);
	}
	if (!proto || (pc ? !owns_pc(function, pc) : walk->ci != walk->top_ci))
		return LS_WALK_FRAME_PROTO;
	put_lua_call(scratch, function, pc);
	if (scratch->is_undecided && !may_have_flags(layout, proto, flags_of_call(scratch)))
		doubt(scratch, LS_DOUBT_FLAGS);
	if (is_native(scratch)) {
		if (!walk->made_code && layout->proto_native)
			walk->made_code = ls_luau_word(proto, layout->proto_native);
		/* Native code stores where it is before it calls, not while it runs. */
		if (is_running)
			walk->frame.pc = LS_PC_UNKNOWN;
	} else if (is_running) {
		walk->code = function->code;
		walk->code_end = walk->code + 4ULL * function->code_count;
	}
	if (scratch->is_undecided && !ls_luau_has_numbers(layout, proto, walk->upvalues))
		doubt(scratch, LS_DOUBT_NUMBERS);
	walk->has_registers |= !scratch->is_undecided || proto[layout->proto_is_vararg + 1];
	walk->fixed = ls_luau_fixed_fingerprint(layout, proto);
	return LS_WALK_NONE;
}

/*
 * Puts the caller whose closure is at `address` into walk.frame without reading it. Returns whether
 * it is known well enough; the innermost function that is machine code must be read.
 */
static __always_inline bool put_known_caller(struct ls_scratch *scratch, __u64 address)
{
	const struct ls_cached_closure *cached = find_cached_closure(scratch, address);
	struct ls_walk *walk = &scratch->walk;

	if ((is_native(scratch) && !walk->made_code) ||
	    !is_known_caller(cached, scratch, address, next_pc(scratch)))
		return false;
	put_lua_call(scratch, &cached->function, next_pc(scratch));
	walk->frame.fingerprint = cached->function.fingerprint;
	walk->has_registers = 1;
	walk->is_known = 1;
	return true;
}

#define LS_OTHER_VALUE 1 /* no address */

/* Returns the closure at `func` on the stack, LS_OTHER_VALUE, or 0 if no value can be there. */
static __always_inline __u64 function_at(struct ls_scratch *scratch, __u64 func)
{
	struct ls_walk *walk = &scratch->walk;
	__u32 size = value_size(scratch);
	const __u8 *value;

	if (func < walk->stack || func >= walk->stack_end || (func - walk->stack) % size)
		return 0;
	value = view(&scratch->stack, func, size, walk->stack);
	if (!value)
		return 0;
	return ls_luau_half(value, ls_luau_type_at(size)) ==
			       walk->sizes.thread - scratch->types.function
		       ? ls_luau_word(value, 0)
		       : LS_OTHER_VALUE;
}

/* Decodes the call in scratch->call into scratch->walk.frame. LS_WALK_NONE or the error. */
__noinline int decode_call(struct ls_scratch *scratch, const struct ls_luau_layout *layout)
{
	struct ls_walk *walk;
	const __u8 *closure;
	__u64 address, function, func;

	if (!scratch || !layout)
		return LS_WALK_FRAME_FUNCTION;
	walk = &scratch->walk;
	walk->frame = (struct ls_frame){};
	walk->is_known = 0;
	func = ls_luau_word(scratch->call, LS_LUAU_CI_FUNC);
	address = function_at(scratch, func + walk->moved);
	if (ls_luau_word(scratch->call, LS_LUAU_CI_BASE) <= func)
		return LS_WALK_FRAME_FUNCTION;
	/* A result has replaced the function already. */
	if (address == LS_OTHER_VALUE && is_running_call(walk))
		return LS_CALL_IS_OVER;
	if (!is_pointer(address))
		return LS_WALK_FRAME_FUNCTION;
	if (put_known_caller(scratch, address))
		return LS_WALK_NONE;
	walk->closure = address;
	begin_closure(scratch, address);
	closure = view_object(&scratch->closures, address, layout->closure_function + 8);
	if (!closure)
		return LS_WALK_FRAME_MEMORY;
	if (closure[0] != walk->sizes.thread - scratch->types.function ||
	    closure[LS_LUAU_CLOSURE_IS_C] > 1)
		return LS_WALK_FRAME_FUNCTION;
	walk->upvalues = closure[LS_LUAU_CLOSURE_UPVALUES];
	function = ls_luau_word(closure, layout->closure_function);
	if (!closure[LS_LUAU_CLOSURE_IS_C])
		return lua_frame(scratch, layout, function);
	if (function < LS_USER_MIN || function >= LS_USER_MAX)
		return LS_WALK_FRAME_FUNCTION;
	walk->frame.kind = LS_FRAME_C;
	walk->frame.function = function;
	return LS_WALK_NONE;
}

/*
 * Whether the running Lua function is just returning, and a C function that it returns has taken
 * its place: a C function's call has no next instruction.
 */
static __always_inline bool is_returning(const struct ls_scratch *scratch)
{
	return scratch->walk.frame.kind == LS_FRAME_C && next_pc(scratch);
}

/*
 * Decodes the call in scratch->call into scratch->walk.frame, with its fingerprint. LS_WALK_NONE,
 * the error, or LS_CALL_IS_OVER. Functions are called one after the other, as nested stacks add up.
 */
static __always_inline int take_call(struct ls_scratch *scratch,
				     const struct ls_luau_layout *layout)
{
	struct ls_walk *walk = &scratch->walk;
	int error = decode_call(scratch, layout);

	if (error || walk->is_known)
		return error;
	if (is_running_call(walk)) {
		if (is_returning(scratch))
			return LS_CALL_IS_OVER;
		if (!next_pc(scratch) && is_half_returned(scratch))
			return LS_WALK_FRAME_FUNCTION;
	}
	if (walk->frame.kind == LS_FRAME_C) {
		name_c_function(scratch, walk->closure, walk->frame.function);
		return LS_WALK_NONE;
	}
	error = take_fingerprint(scratch, layout, walk->frame.function, walk->fixed);
	if (!error)
		keep_closure(scratch, walk->closure);
	return error;
}

#endif
