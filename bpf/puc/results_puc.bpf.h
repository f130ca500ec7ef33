/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects that what looks like the running C function of PUC Lua is a result of the function that
 * is just returning.
 */
#ifndef LS_RESULTS_PUC_BPF_H
#define LS_RESULTS_PUC_BPF_H

#include "puc/call_info_puc.bpf.h"

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

/* Operand C of OP_CALL: the number of results wanted plus 1; 0: all there are. */
static __always_inline __u32 results_operand(const struct ls_puc_layout *layout, __u32 instruction)
{
	return instruction >> (layout->op_results & 31) &
	       ((1U << (layout->op_results_bits & 15)) - 1);
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
	/* Nils pad the results of a call that wants several; any other nil is its own. */
	if (signs & LS_RESULT_NIL && lowers_top && wanted > 2)
		return true;
	if (signs & LS_RESULTS_SHIFTED)
		return !wanted || wanted > 3;
	return signs & LS_RESULTS_FILLED && wanted == 5;
}

#endif
