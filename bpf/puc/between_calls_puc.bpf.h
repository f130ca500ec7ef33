/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects that the running call of PUC Lua has not begun or is over: it contradicts its caller.
 * What runs is then the caller's instruction or the C function that calls.
 */
#ifndef LS_BETWEEN_CALLS_PUC_BPF_H
#define LS_BETWEEN_CALLS_PUC_BPF_H

#include "puc/results_puc.bpf.h"

#define LS_BETWEEN_CALLS 0xff /* beside enum ls_walk_error: see between_calls() */

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
 * Whether the running function of 5.1 has not begun or is over: L->savedpc, its pc, is the one that
 * its caller's CallInfo holds. luaD_precall (ldo.c) saves the caller's pc there before it makes the
 * call the running one, and sets L->savedpc to the function's start after that. luaD_poscall sets
 * it back.
 */
static __always_inline bool has_callers_pc(const struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout, __u64 pc)
{
	__u64 callers;

	return layout->state_savedpc && is_top_call(scratch, layout) &&
	       !scratch->walk.chain_index && !scratch->walk.is_suspended &&
	       !scratch->is_undecided && !scratch->state[layout->state_status] &&
	       !read_target(&callers, sizeof(callers),
			    scratch->walk.ci - layout->ci_size + layout->ci_savedpc) &&
	       callers == pc;
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

#endif
