/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Evidence of which native stack a state runs on, if its errorJmp does not tell.
 *
 * There are two such cases. A mapping may hold several stacks: C coroutines are side by side in one
 * mapping, in the heap or in an array, each with states of its own that keep their errorJmp while
 * another runs, and several threads may even run such coroutines simultaneously. And a main thread
 * that the embedding program calls without protection has no errorJmp: any stack with a pointer to
 * it may run it, or wait for its turn.
 *
 * A stack that runs a state has the frame of luaV_execute (lvm.c), which keeps, in registers or in
 * its frame, the state and, of the function that it executes, the closure, the CallInfo (5.2 on),
 * the address in the code or of the Lua registers. Such a frame of another stack is further up,
 * beyond the rest of this stack and beyond the unused part of the other.
 *
 * Likewise for a resumer: its C function, coroutine.resume, holds the child, and its own
 * luaV_execute is right above the child's first frame. A state without such evidence is not taken:
 * the stack ends there.
 */
#ifndef LS_STACK_OWNER_PUC_BPF_H
#define LS_STACK_OWNER_PUC_BPF_H

#include "puc/frame_puc.bpf.h"
#include "state_holder.bpf.h"

#define LS_RUNNING_DEPTH 64     /* nested calls of C functions, down to a Lua function */
#define LS_JUMPS_MAX     256    /* nested protected calls: LUAI_MAXCCALLS (200) and a margin */
#define LS_REGISTERS_OF  0x1000 /* bytes: 256 registers of a Lua function */
#define LS_EXTRA_STACK   5      /* values beyond stack_last, lstate.h */

/*
 * Whether the function at `func` is a C function. Otherwise *closure is the Lua closure, unless the
 * stack of values is just being moved.
 */
static __always_inline bool is_c_function(const struct ls_puc_layout *layout, __u64 func,
					  __u64 *closure)
{
	__u64 value[2];
	__u8 is_c = 0;

	*closure = 0;
	if (read_target(value, sizeof(value), func))
		return false;
	if (layout->tag_light_function && (__u8)value[1] == layout->tag_light_function)
		return true;
	if ((__u8)value[1] == layout->tag_c_function && !layout->closure_is_c)
		return true;
	*closure = value[0];
	return layout->closure_is_c &&
	       !read_target(&is_c, sizeof(is_c), value[0] + layout->closure_is_c) && is_c;
}

/* Checks one call, from the running one outward, until two are of Lua functions. 1: done. */
static long find_lua_call(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	const struct ls_puc_layout *layout = pass->layout;
	struct ls_walk *walk = &scratch->walk;
	struct ls_stack_owner *owner = &scratch->owner;
	struct ls_stack_owner_call *call = &owner->calls[owner->call_count & 1];
	const __u8 *ci;

	if (walk->ci == walk->base_ci || !is_pointer(walk->ci) || owner->call_count > 1)
		return 1;
	ci = read_ci(scratch, layout);
	if (!ci)
		return 1;
	if (!is_c_function(layout, func_of(scratch, layout, ci), &call->closure)) {
		call->ci = walk->ci;
		call->pc = ls_word(ci, layout->ci_savedpc);
		if (layout->state_savedpc && is_top_call(scratch, layout))
			call->pc = ls_word(scratch->state, layout->state_savedpc);
		owner->call_count++;
	}
	walk->ci =
		layout->ci_is_array ? walk->ci - layout->ci_size : ls_word(ci, layout->ci_previous);
	return 0;
}
LS_STEP(find_lua_call);

static __always_inline bool is_of_call(const struct ls_stack_owner *owner, __u64 word)
{
	if (word < LS_USER_MIN || !owner->call_count)
		return false;
	if (word >= owner->values && word < owner->values_end && !((word - owner->values) & 15))
		return true;
	for (__u32 i = 0; i < 2; i++)
		if (i < owner->call_count &&
		    (word == owner->calls[i].ci || word == owner->calls[i].closure ||
		     word == owner->calls[i].pc || word == owner->calls[i].pc - 4))
			return true;
	return false;
}

/*
 * Returns the end of the values that the running call may have. Pointers beyond it do not count:
 * what follows the values in the heap, such as a thread's own dtv, is on other stacks as well.
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
	struct ls_stack_owner *owner = &scratch->owner;
	__u64 word = scratch->registers[i % LS_REGISTER_MAX];

	owner->has_state |= word == owner->state;
	owner->has_call_in_register |= is_callee_saved(i) && is_of_call(owner, word);
	return 0;
}
LS_STEP(weigh_register);

static long weigh_word_of_chunk(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_stack_owner *owner = &scratch->owner;
	__u64 word = scratch->search.chunk[i % LS_CHUNK_WORDS], address = owner->address + i * 8;

	if (word == owner->state && address < owner->state_end) {
		owner->has_state = 1;
		if (!owner->found)
			owner->found = address;
	}
	owner->has_call |= is_of_call(owner, word);
	return owner->has_state && owner->has_call;
}
LS_STEP(weigh_word_of_chunk);

static long weigh_chunk(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_stack_owner *owner = &scratch->owner;
	__u64 next = (owner->address | (LS_CHUNK_BYTES - 1)) + 1;
	__u32 size;

	if (next > scratch->search.high)
		next = scratch->search.high;
	size = next - owner->address;
	if (owner->address >= owner->call_end || !size || size > LS_CHUNK_BYTES ||
	    (owner->has_state && owner->has_call))
		return 1;
	if (!read_target(scratch->search.chunk, size, owner->address))
		repeat(size / 8, weigh_word_of_chunk, (void *)pass);
	owner->address = next;
	return 0;
}
LS_STEP(weigh_chunk);

/*
 * Whether state number `at` of the chain runs on the stack that SP is in. How far up its call is
 * depends on C functions, with buffers of 8 KiB in 5.1 and 5.2.
 */
__noinline int runs_here(struct ls_scratch *scratch, const struct ls_puc_layout *layout, __u32 at)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_stack_owner *owner;

	if (!scratch || !layout || enter_state(scratch, layout, at))
		return 0;
	owner = &scratch->owner;
	owner->state = scratch->chain[at % LS_CHAIN_MAX].state;
	owner->call_count = 0;
	owner->values = ls_word(scratch->state, layout->state_stack);
	owner->values_end = end_of_values(scratch, layout);
	owner->found = 0;
	owner->has_state = 0;
	owner->has_call_in_register = 0;
	repeat(LS_RUNNING_DEPTH, find_lua_call, &pass);
	/* If no Lua function was called, there is no such call to find. */
	owner->has_call = !owner->call_count;
	owner->address = scratch->sp;
	owner->state_end =
		scratch->sp +
		(scratch->search.is_shared ? LS_NEAR_BYTES : LS_CHUNKS_BLIND * LS_CHUNK_BYTES);
	owner->call_end =
		scratch->sp +
		(scratch->search.is_shared ? LS_FAR_BYTES : LS_CHUNKS_BLIND * LS_CHUNK_BYTES);
	repeat(scratch->register_count, weigh_register, &pass);
	owner->has_call |= owner->has_call_in_register;
	repeat(LS_CHUNKS_BLIND + 1, weigh_chunk, &pass);
	if (!owner->has_state)
		return 0;
	if (scratch->chain[at % LS_CHAIN_MAX].anchor != LS_UNPROTECTED)
		return owner->has_call;
	return is_run_by_this_thread(scratch, owner->state, owner->has_call,
				     owner->has_call_in_register, !scratch->search.is_shared);
}

/*
 * Whether a state that runs_here() did not find may run here all the same, because part of the
 * evidence is near. It does not if nothing of it is here, or nothing but a pointer to it on a stack
 * that was read to its end.
 */
static __always_inline bool may_run_here(const struct ls_scratch *scratch)
{
	const struct ls_stack_owner *owner = &scratch->owner;

	if (owner->has_call && (owner->call_count || owner->has_state))
		return true;
	return owner->found && owner->address < scratch->search.high;
}

/*
 * An errorJmp in a thread's own stack is proof enough. Without one: a VM runs on one stack at a
 * time, so a state that resumed one that runs here runs here too.
 */
static __always_inline bool needs_owner_check(const struct ls_scratch *scratch, __u32 at)
{
	const struct ls_active *active = &scratch->chain[at % LS_CHAIN_MAX];

	if (scratch->search.is_shared)
		return true;
	return active->anchor == LS_UNPROTECTED &&
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

/* Checks the next state of the chain. 1: done. */
static long weed(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_weeding *weeding = &scratch->weeding;

	if (weeding->at >= scratch->chain_count || (weeding->at && scratch->search.is_shared))
		return 1;
	if (!needs_owner_check(scratch, weeding->at) ||
	    runs_here(scratch, pass->layout, weeding->at)) {
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
 * Removes states that do not run here from the chain; in a shared mapping only until one does,
 * because those above it must be its resumers. Returns LS_WALK_NONE or the error. __noinline:
 * verified once for all callers.
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
static __always_inline bool holds(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				  __u64 func, __u64 child)
{
	__u64 values[4]; /* the function and its first argument */
	__u64 upvalue;
	__u8 tag;

	if (read_target(values, sizeof(values), func))
		return false;
	if (values[2] == child && LS_WITHOUT_COLLECTABLE((__u8)values[3]) == LS_TYPE_THREAD)
		return true;
	tag = values[1];
	return tag == layout->tag_c_function &&
	       !read_target(&upvalue, sizeof(upvalue), values[0] + layout->closure_function + 8) &&
	       upvalue == child;
}

/* Steps to the next outer protected call, lua_longjmp.previous (ldo.c). 1: there is none. */
static long leave_protected_call(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_stack_owner *owner = &scratch->owner;
	__u64 previous;

	if (read_target(&previous, sizeof(previous), owner->address) ||
	    previous <= owner->address || !on_stack(scratch, previous))
		return 1;
	owner->address = previous;
	return 0;
}
LS_STEP(leave_protected_call);

/*
 * Returns the distance from the outermost protected call up to a pointer to `resumer`, or
 * LS_FAR_BYTES if none is nearer.
 */
static __always_inline __u64 distance_of(struct ls_pass *pass, __u64 outermost, __u64 resumer)
{
	struct ls_stack_owner *owner = &pass->scratch->owner;

	owner->state = resumer;
	owner->address = outermost;
	owner->state_end = outermost + LS_FAR_BYTES;
	owner->call_end = owner->state_end;
	owner->call_count = 0;
	owner->found = 0;
	owner->has_state = 0;
	owner->has_call = 1;
	repeat(LS_FAR_BYTES / LS_CHUNK_BYTES + 1, weigh_chunk, pass);
	return owner->found ? owner->found - outermost : LS_FAR_BYTES;
}

/* Ends the chain with chain[at]; `is_cut`: resumers may be missing. */
static __always_inline void end_chain(struct ls_scratch *scratch, __u32 at, bool is_cut)
{
	scratch->chain_count = at + 1;
	scratch->search.is_cut = is_cut;
}

struct ls_swap {
	struct ls_scratch *scratch;
	__u32 at; /* the state whose resumer is looked for */
};

/* Swaps the `i`th state after the next with the next if it is the main thread. 1: done. */
static long swap_main_thread(__u32 i, void *context)
{
	const struct ls_swap *swap = context;
	struct ls_active *chain = swap->scratch->chain;
	struct ls_active *next = &chain[(swap->at + 1) % LS_CHAIN_MAX], other = *next;
	__u32 from = swap->at + 2 + i;

	if (from >= swap->scratch->chain_count)
		return 1;
	if (chain[from % LS_CHAIN_MAX].state != chain[swap->at % LS_CHAIN_MAX].main_thread ||
	    chain[from % LS_CHAIN_MAX].anchor != LS_UNPROTECTED)
		return 0;
	*next = chain[from % LS_CHAIN_MAX];
	chain[from % LS_CHAIN_MAX] = other;
	return 1;
}
LS_STEP(swap_main_thread);

/*
 * An unprotected main thread has no place in the order: if the next state above `child` cannot have
 * resumed it, the main thread of its VM comes first.
 */
__noinline int put_main_thread_next(struct ls_scratch *scratch, __u32 at)
{
	struct ls_swap swap = {.scratch = scratch, .at = at};
	const struct ls_active *child, *next;

	if (!scratch)
		return 0;
	child = &scratch->chain[at % LS_CHAIN_MAX];
	next = &scratch->chain[(at + 1) % LS_CHAIN_MAX];
	if (next->main_thread == child->main_thread && next->anchor <= child->anchor + LS_FAR_BYTES)
		return 0;
	repeat(LS_CHAIN_MAX, swap_main_thread, &swap);
	return 0;
}

/* Checks one link of the chain. 1: it ends here: resumers are missing, or this one has none. */
static long prove_resumer(__u32 i, void *context)
{
	struct ls_pass pass = *(const struct ls_pass *)context;
	struct ls_scratch *scratch = pass.scratch;
	const struct ls_active *child = &scratch->chain[i % LS_CHAIN_MAX];
	const struct ls_active *next = &scratch->chain[(i + 1) % LS_CHAIN_MAX];
	__u64 outermost, distance;
	const __u8 *ci;

	scratch->owner.address = child->anchor;
	if (child->state == child->main_thread) {
		end_chain(scratch, i, false);
		return 1;
	}
	repeat(LS_JUMPS_MAX, leave_protected_call, &pass);
	outermost = scratch->owner.address;
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
 * Determines who resumed whom: only the lowest state is certain. The next above it resumed it if it
 * is near and its running C function holds it; it did not if it is another VM's or far. Otherwise
 * that is unknown.
 */
static __always_inline void prove_resumers(struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	scratch->search.is_cut = 0;
	repeat(LS_CHAIN_MAX, prove_resumer, &pass);
}

#endif
