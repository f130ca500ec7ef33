/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What shows on which native stack a state runs, where its errorJmp does not tell.
 *
 * It does not in two cases. A mapping may hold several stacks: coroutines of C lie side by side in
 * one, in the heap or in an array, each with states of its own that keep their errorJmp while
 * another runs, and threads may even run several of them at once. And a main thread that a host
 * calls without protection has none: who holds a pointer to it may run it, or wait for its turn.
 *
 * What a stack has that runs a state is the frame of luaV_execute (lvm.c): it keeps, in registers
 * or in its frame, the state, and of the function that it executes the closure, the CallInfo (5.2
 * on), the place in the code or the registers of Lua. The other stack's frame of that kind lies
 * further up, beyond the rest of this stack and what the other has left unused of its own.
 *
 * Likewise a resumer: its C function, coroutine.resume, holds the child, and its own luaV_execute
 * lies right above the child's first frame. What is not shown is not taken: the stack ends there.
 */
#ifndef LS_PROOF_BPF_H
#define LS_PROOF_BPF_H

#include "frame_puc.bpf.h"

#define LS_RUNNING_DEPTH 64     /* C functions that may have called each other, down to Lua */
#define LS_JUMPS_MAX     256    /* protected calls in each other: LUAI_MAXCCALLS (200) and some */
#define LS_REGISTERS_OF  0x1000 /* bytes: 256 registers of a Lua function */
#define LS_EXTRA_STACK   5      /* values beyond stack_last, lstate.h */

/*
 * Whether the function at `func` is one of C; else it is one of Lua, by *closure, or the stack of
 * values is just being moved.
 */
static __always_inline int is_c_function(const struct ls_puc_layout *layout, __u64 func,
					 __u64 *closure)
{
	__u64 value[2];
	__u8 is_c = 0;

	*closure = 0;
	if (read_target(value, sizeof(value), func))
		return 0;
	if (layout->tag_light_function && (__u8)value[1] == layout->tag_light_function)
		return 1;
	if ((__u8)value[1] == layout->tag_c_function && !layout->closure_is_c)
		return 1;
	*closure = value[0];
	return layout->closure_is_c &&
	       !read_target(&is_c, sizeof(is_c), value[0] + layout->closure_is_c) && is_c;
}

/* One call from the running one down, until there are two of Lua functions; 1: done. */
static long find_lua_call(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	const struct ls_puc_layout *layout = pass->layout;
	struct ls_walk *walk = &scratch->walk;
	struct ls_proof *proof = &scratch->proof;
	struct ls_proof_call *call = &proof->calls[proof->call_count & 1];
	const __u8 *ci;

	if (walk->ci == walk->base_ci || !is_pointer(walk->ci) || proof->call_count > 1)
		return 1;
	ci = read_ci(scratch, layout);
	if (!ci)
		return 1;
	if (!is_c_function(layout, func_of(scratch, layout, ci), &call->closure)) {
		call->ci = walk->ci;
		call->pc = ls_word(ci, layout->ci_savedpc);
		if (layout->state_savedpc && is_top_call(scratch, layout))
			call->pc = ls_word(scratch->state, layout->state_savedpc);
		proof->call_count++;
	}
	walk->ci =
		layout->ci_is_array ? walk->ci - layout->ci_size : ls_word(ci, layout->ci_previous);
	return 0;
}
LS_STEP(find_lua_call);

static __always_inline int is_of_call(const struct ls_proof *proof, __u64 word)
{
	if (word < LS_USER_MIN || !proof->call_count)
		return 0;
	if (word >= proof->values && word < proof->values_end && !((word - proof->values) & 15))
		return 1;
	for (__u32 i = 0; i < 2; i++)
		if (i < proof->call_count &&
		    (word == proof->calls[i].ci || word == proof->calls[i].closure ||
		     word == proof->calls[i].pc || word == proof->calls[i].pc - 4))
			return 1;
	return 0;
}

/*
 * Where the values end that the running call may have, and with them all that points there: what
 * lies behind them in the heap, a thread's own dtv for one, is on other stacks as well.
 */
static __always_inline __u64 end_of_values(const struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout)
{
	__u64 end = ls_word(scratch->state, layout->state_top) + LS_REGISTERS_OF;
	__u64 room = ls_word(scratch->state, layout->state_stack_last) + 16 * LS_EXTRA_STACK;

	return room < end ? room : end;
}

static long weigh_register(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_proof *proof = &scratch->proof;
	__u64 word = scratch->registers[i % LS_REGISTER_MAX];

	proof->has_state |= word == proof->state;
	proof->has_call |= is_callee_saved(i) && is_of_call(proof, word);
	return 0;
}
LS_STEP(weigh_register);

static long weigh_word_of_chunk(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_proof *proof = &scratch->proof;
	__u64 word = scratch->search.chunk[i % LS_CHUNK_WORDS], address = proof->address + i * 8;

	if (word == proof->state && address < proof->state_end) {
		proof->has_state = 1;
		if (!proof->found)
			proof->found = address;
	}
	proof->has_call |= is_of_call(proof, word);
	return proof->has_state && proof->has_call;
}
LS_STEP(weigh_word_of_chunk);

static long weigh_chunk(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_proof *proof = &scratch->proof;
	__u64 next = (proof->address | (LS_CHUNK_BYTES - 1)) + 1;
	__u32 size;

	if (next > scratch->search.high)
		next = scratch->search.high;
	size = next - proof->address;
	if (proof->address >= proof->call_end || !size || size > LS_CHUNK_BYTES ||
	    (proof->has_state && proof->has_call))
		return 1;
	if (!read_target(scratch->search.chunk, size, proof->address))
		repeat(size / 8, weigh_word_of_chunk, (void *)pass);
	proof->address = next;
	return 0;
}
LS_STEP(weigh_chunk);

/*
 * Whether a state of the chain runs on the stack that SP is in. How far up its call lies, C
 * functions decide, with buffers of 8 KiB in 5.1 and 5.2.
 */
__noinline int runs_here(struct ls_scratch *scratch, const struct ls_puc_layout *layout, __u32 at)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_proof *proof;

	if (!scratch || !layout || enter_state(scratch, layout, at))
		return 0;
	proof = &scratch->proof;
	proof->state = scratch->chain[at % LS_CHAIN_MAX].state;
	proof->call_count = 0;
	proof->values = ls_word(scratch->state, layout->state_stack);
	proof->values_end = end_of_values(scratch, layout);
	proof->found = 0;
	proof->has_state = 0;
	repeat(LS_RUNNING_DEPTH, find_lua_call, &pass);
	/* Where no Lua function was called, there is none to be shown. */
	proof->has_call = !proof->call_count;
	proof->address = scratch->sp;
	proof->state_end =
		scratch->sp +
		(scratch->search.is_shared ? LS_NEAR_BYTES : LS_CHUNKS_BLIND * LS_CHUNK_BYTES);
	proof->call_end =
		scratch->sp +
		(scratch->search.is_shared ? LS_FAR_BYTES : LS_CHUNKS_BLIND * LS_CHUNK_BYTES);
	repeat(scratch->register_count, weigh_register, &pass);
	repeat(LS_CHUNKS_BLIND + 1, weigh_chunk, &pass);
	return proof->has_state && proof->has_call;
}

/*
 * A state that was not shown to run here, although something of it is near, may do so all the same.
 * With nothing of it here, or nothing but its name on a stack that is known to its end, it does
 * not.
 */
static __always_inline int may_run_here(const struct ls_scratch *scratch)
{
	const struct ls_proof *proof = &scratch->proof;

	if (proof->call_count && proof->has_call)
		return 1;
	return proof->found && proof->address < scratch->search.high;
}

/*
 * An errorJmp in a thread's own stack says it all. Without one: a VM runs on one stack at a time,
 * and one that resumed what runs here runs here.
 */
static __always_inline int needs_proof(const struct ls_scratch *scratch, __u32 at)
{
	const struct ls_active *active = &scratch->chain[at % LS_CHAIN_MAX];

	if (scratch->search.is_shared)
		return 1;
	return active->error_jump == LS_UNPROTECTED &&
	       (!at || scratch->chain[(at - 1) % LS_CHAIN_MAX].main_thread != active->main_thread);
}

static long move_down(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_active *chain = scratch->chain;
	__u32 to = scratch->weeding.at + i;

	chain[to % LS_CHAIN_MAX] = chain[(to + 1) % LS_CHAIN_MAX];
	return 0;
}
LS_STEP(move_down);

/* Looks at the state that the weeding has come to; 1: done. */
static long weed(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_weeding *weeding = &scratch->weeding;

	if (weeding->at >= scratch->chain_count || (weeding->at && scratch->search.is_shared))
		return 1;
	if (!needs_proof(scratch, weeding->at) || runs_here(scratch, pass->layout, weeding->at)) {
		weeding->at++;
		return 0;
	}
	weeding->is_unsure |= may_run_here(scratch);
	scratch->chain_count--;
	repeat(scratch->chain_count - weeding->at, move_down, context);
	return 0;
}
LS_STEP(weed);

/*
 * Takes what does not run here off the chain; of a shared mapping only until something does, as
 * what lies above that has to be its resumers. LS_WALK_NONE or what is wrong. Verified once, for
 * all its callers.
 */
__noinline int drop_strangers(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return LS_WALK_NO_SCRIPT;
	scratch->weeding = (struct ls_weeding){};
	repeat(LS_CHAIN_MAX, weed, &pass);
	if (!scratch->weeding.at)
		return scratch->weeding.is_unsure ? LS_WALK_STACK_OWNER : LS_WALK_NO_SCRIPT;
	if (scratch->weeding.is_unsure && !scratch->search.is_shared)
		scratch->search.is_cut = 1;
	return LS_WALK_NONE;
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

/* lua_longjmp.previous (ldo.c): one protected call further out; 1: there is none. */
static long leave_protected_call(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_proof *proof = &scratch->proof;
	__u64 previous;

	if (read_target(&previous, sizeof(previous), proof->address) ||
	    previous <= proof->address || !on_stack(scratch, previous))
		return 1;
	proof->address = previous;
	return 0;
}
LS_STEP(leave_protected_call);

/* How far above the outermost protected call `resumer` is met; LS_FAR_BYTES: not nearer. */
static __always_inline __u64 distance_of(struct ls_pass *pass, __u64 outermost, __u64 resumer)
{
	struct ls_proof *proof = &pass->scratch->proof;

	proof->state = resumer;
	proof->address = outermost;
	proof->state_end = outermost + LS_FAR_BYTES;
	proof->call_end = proof->state_end;
	proof->call_count = 0;
	proof->found = 0;
	proof->has_state = 0;
	proof->has_call = 1;
	repeat(LS_FAR_BYTES / LS_CHUNK_BYTES + 1, weigh_chunk, pass);
	return proof->found ? proof->found - outermost : LS_FAR_BYTES;
}

/* The stack ends with chain[at]; `is_cut`: as far as is known. */
static __always_inline void end_chain(struct ls_scratch *scratch, __u32 at, int is_cut)
{
	scratch->chain_count = at + 1;
	scratch->search.is_cut = is_cut;
}

struct ls_swap {
	struct ls_scratch *scratch;
	__u32 at; /* the one whose resumer is looked for */
};

/* Puts the `i`th after the next in its place if it is the main thread; 1: done. */
static long swap_main_thread(__u32 i, void *context)
{
	const struct ls_swap *swap = context;
	struct ls_active *chain = swap->scratch->chain;
	struct ls_active *next = &chain[(swap->at + 1) % LS_CHAIN_MAX], other = *next;
	__u32 from = swap->at + 2 + i;

	if (from >= swap->scratch->chain_count)
		return 1;
	if (chain[from % LS_CHAIN_MAX].state != chain[swap->at % LS_CHAIN_MAX].main_thread ||
	    chain[from % LS_CHAIN_MAX].error_jump != LS_UNPROTECTED)
		return 0;
	*next = chain[from % LS_CHAIN_MAX];
	chain[from % LS_CHAIN_MAX] = other;
	return 1;
}
LS_STEP(swap_main_thread);

/*
 * A main thread without protection has no place in the order: where the next above `child` cannot
 * have resumed it, the one of its VM comes first.
 */
__noinline int put_main_thread_next(struct ls_scratch *scratch, __u32 at)
{
	struct ls_swap swap = {.scratch = scratch, .at = at};
	const struct ls_active *child, *next;

	if (!scratch)
		return 0;
	child = &scratch->chain[at % LS_CHAIN_MAX];
	next = &scratch->chain[(at + 1) % LS_CHAIN_MAX];
	if (next->main_thread == child->main_thread &&
	    next->error_jump <= child->error_jump + LS_FAR_BYTES)
		return 0;
	repeat(LS_CHAIN_MAX, swap_main_thread, &swap);
	return 0;
}

/* One link of the chain; 1: it ends here, with a loss or because nobody resumed this one. */
static long prove_resumer(__u32 i, void *context)
{
	struct ls_pass pass = *(const struct ls_pass *)context;
	struct ls_scratch *scratch = pass.scratch;
	const struct ls_active *child = &scratch->chain[i % LS_CHAIN_MAX];
	const struct ls_active *next = &scratch->chain[(i + 1) % LS_CHAIN_MAX];
	__u64 outermost, distance;
	const __u8 *ci;

	scratch->proof.address = child->error_jump;
	if (child->state == child->main_thread) {
		end_chain(scratch, i, 0);
		return 1;
	}
	repeat(LS_JUMPS_MAX, leave_protected_call, &pass);
	outermost = scratch->proof.address;
	put_main_thread_next(scratch, i);
	if (i + 1 >= scratch->chain_count || next->main_thread != child->main_thread) {
		end_chain(scratch, i,
			  scratch->search.address < scratch->search.high &&
				  scratch->search.address < outermost + LS_FAR_BYTES);
		return 1;
	}
	distance = distance_of(&pass, outermost, next->state);
	if (distance < LS_NEAR_BYTES && !enter_state(scratch, pass.layout, i + 1)) {
		ci = read_ci(scratch, pass.layout);
		if (ci &&
		    holds(scratch, pass.layout, func_of(scratch, pass.layout, ci), child->state))
			return 0;
	}
	end_chain(scratch, i, distance < LS_FAR_BYTES);
	return 1;
}
LS_STEP(prove_resumer);

/*
 * Who resumed whom: only the lowest is certain. The next above it resumed it if it is near and its
 * running C function holds it; it did not if it is another VM's or far. Else that is not known.
 */
static __always_inline void prove_resumers(struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	scratch->search.is_cut = 0;
	repeat(LS_CHAIN_MAX, prove_resumer, &pass);
}

#endif
