/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the lua_States that run on this thread, from outside, in a program without symbols.
 *
 * Every protected call goes through luaD_rawrunprotected (ldo.c, all releases), which puts a struct
 * lua_longjmp on the C stack and links it in L->errorJmp. A coroutine that yielded, ended or never
 * started has none. So a state is active here exactly if its errorJmp is between this thread's SP
 * and the end of its stack; the lowest is the running one, and those above are its resumers, in
 * order. This is not a heuristic.
 *
 * Pointers to the active states are in registers and on the native stack, because any caller of Lua
 * holds its L. So the search goes through these (scan_stack.bpf.h). Any state of a VM leads to the
 * main thread.
 *
 * Only the main thread can run unprotected (in an embedding program that uses lua_call alone): it
 * then has no errorJmp, but calls in progress.
 */
#ifndef LS_FIND_STATE_PUC_BPF_H
#define LS_FIND_STATE_PUC_BPF_H

#include "puc/scratch_puc.bpf.h"

#define LS_HEAD_OFFSET 8 /* of GCObject.tt behind its `next`, lobject.h: all releases */
#include "scan_stack.bpf.h"

#include "active_chain.bpf.h"

#define LS_YIELDED     1       /* LUA_YIELD, lua.h; higher values are errors */
#define LS_UNPROTECTED (~0ULL) /* for a main thread without errorJmp: above all others */

/* Upper limit of what a mapping has grown by since it was looked up. */
#define LS_GROWTH_BYTES (64ULL << 20)

/* Chunks to read if nothing indicates that Lua runs, and if something does. */
#define LS_CHUNKS_BLIND 12
#define LS_CHUNKS_MAX   64

/* Includers that are in no hurry may define larger limits. */
#ifndef LS_SEARCH_BLIND
#define LS_SEARCH_BLIND LS_CHUNKS_BLIND
#define LS_SEARCH_MAX   LS_CHUNKS_MAX
#endif

static __always_inline bool is_state_head(__u64 head)
{
	return (head & 0xff) == LS_TYPE_THREAD;
}

/*
 * Copies the lua_State at `address` into `copy`. Returns 0, or 1 if it is none that could run. A
 * coroutine that died by an error keeps the calls in which it died, and lua_resume (ldo.c) reports
 * that to its resumer from inside a protected call. stack_last does not help: it lags behind a
 * stack that grows.
 */
static __always_inline int read_state(const struct ls_puc_layout *layout, __u64 address, __u8 *copy)
{
	return read_target(copy, layout->state_size, address) ||
	       copy[LS_HEAD_OFFSET] != LS_TYPE_THREAD || copy[layout->state_status] > LS_YIELDED ||
	       !is_pointer(ls_word(copy, layout->state_stack)) ||
	       !is_pointer(ls_word(copy, layout->state_ci)) ||
	       !is_pointer(ls_word(copy, layout->state_global));
}

static __always_inline __u64 base_ci_of(const struct ls_puc_layout *layout, const __u8 *copy,
					__u64 state)
{
	return layout->ci_is_array ? ls_word(copy, layout->state_base_ci)
				   : state + layout->state_base_ci;
}

/* Returns the state's errorJmp, LS_UNPROTECTED, or 0 if it does not run on this stack. */
static __always_inline __u64 activity_of(const struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *copy,
					 __u64 state, __u64 main_thread)
{
	__u64 error_jump = ls_word(copy, layout->state_error_jump);

	if (on_stack(scratch, error_jump))
		return error_jump;
	if (error_jump || state != main_thread || copy[layout->state_status])
		return 0;
	return ls_word(copy, layout->state_ci) != base_ci_of(layout, copy, state) ? LS_UNPROTECTED
										  : 0;
}

/* Returns the main thread of the VM with this global_State, or 0 if it is no global_State. */
static __always_inline __u64 main_thread_of(const struct ls_puc_layout *layout, __u64 global)
{
	__u64 main_thread = global + layout->global_main_thread, head;

	if (!layout->main_thread_is_embedded &&
	    read_target(&main_thread, sizeof(main_thread), main_thread))
		return 0;
	if (!is_pointer(main_thread) ||
	    read_target(&head, sizeof(head), main_thread + LS_HEAD_OFFSET) || !is_state_head(head))
		return 0;
	return main_thread;
}

/*
 * Adds a main thread that is active although the search has not found a pointer to it. It bounds
 * how far up its coroutines can be. An unprotected one must be found itself. Returns whether it
 * was added.
 */
static __always_inline bool add_protected(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, __u64 state,
					  __u64 main_thread)
{
	__u64 error_jump;

	if (read_state(layout, state, scratch->other_state))
		return false;
	error_jump = ls_word(scratch->other_state, layout->state_error_jump);
	if (!on_stack(scratch, error_jump))
		return false;
	add_active(scratch, state, error_jump, ls_word(scratch->other_state, layout->state_ci),
		   main_thread);
	return true;
}

/*
 * Considers an object that has the tag of a state. Adds it to the chain and returns true if it is
 * an active one. __noinline: verified once for all callers.
 */
__noinline bool consider(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
			 __u64 address)
{
	__u64 global, main_thread, error_jump;

	if (!scratch || !layout)
		return false;
	if (read_state(layout, address, scratch->other_state))
		return false;
	error_jump = ls_word(scratch->other_state, layout->state_error_jump);
	if (error_jump && !on_stack(scratch, error_jump)) {
		if (error_jump - scratch->search.high < LS_GROWTH_BYTES)
			scratch->search.is_beyond = 1;
		return false;
	}
	global = ls_word(scratch->other_state, layout->state_global);
	main_thread = global == scratch->search.global ? scratch->search.main_thread
						       : main_thread_of(layout, global);
	if (!main_thread)
		return false;
	error_jump = activity_of(scratch, layout, scratch->other_state, address, main_thread);
	if (!error_jump)
		return false;
	add_active(scratch, address, error_jump, ls_word(scratch->other_state, layout->state_ci),
		   main_thread);
	if (address == main_thread)
		scratch->search.rooted = 1;
	else if (!scratch->search.is_shared && !scratch->search.rooted &&
		 scratch->search.global != global)
		scratch->search.rooted = add_protected(scratch, layout, main_thread, main_thread);
	scratch->search.global = global;
	scratch->search.main_thread = main_thread;
	return true;
}

/*
 * Whether the search is past this stack, if other stacks may follow: states that resumed each other
 * are close together, and what is far above the last of them belongs to another stack. __noinline:
 * verified once for all callers.
 */
__noinline int is_other_stack(const struct ls_scratch *scratch)
{
	const struct ls_active *chain;
	__u64 end;
	bool is_main;

	if (!scratch)
		return 0;
	chain = scratch->chain;
	end = chain[0].anchor;
	is_main = chain[0].state == chain[0].main_thread;
	if (end == LS_UNPROTECTED)
		return scratch->search.chunks_read >= LS_CHUNKS_BLIND;
	for (__u32 i = 1; i < LS_CHAIN_MAX; i++) {
		if (i >= scratch->chain_count || is_main || chain[i].anchor > end + LS_FAR_BYTES)
			break;
		end = chain[i].anchor;
		is_main = chain[i].state == chain[i].main_thread;
	}
	return scratch->search.address > end + (is_main ? 0 : LS_FAR_BYTES);
}

/* Whether the search is done: nothing above a known main thread's own errorJmp matters. */
static __always_inline bool is_found(const struct ls_scratch *scratch)
{
	__u32 last = scratch->chain_count - 1;

	if (scratch->search.is_cut)
		return true;
	if (scratch->search.is_shared)
		return scratch->chain_count && is_other_stack(scratch);
	return scratch->search.rooted && last < LS_CHAIN_MAX &&
	       scratch->chain[last].anchor < scratch->search.address;
}

/*
 * Fills scratch->chain by a search of the registers and the stack. Returns LS_WALK_NONE or the
 * error. The root of the last sample may still be active: then Lua runs for certain, and its
 * errorJmp tells how far up.
 */
static __always_inline int search_stack(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout,
					struct ls_thread *thread)
{
	__u32 last;
	int known = 0;

	if (!scratch || !layout || !thread)
		return LS_WALK_NO_SCRIPT;
	scratch->chain_count = 0;
	/* In a mapping with other stacks, it may well be active on another one. */
	if (thread->root.state && thread->own_stack)
		known = add_protected(scratch, layout, thread->root.state,
				      thread->root.main_thread);
	scan_registers(scratch, layout);
	scan_stack(scratch, layout, scratch->search.high, LS_SEARCH_BLIND);
	if (scratch->chain_count && !is_found(scratch))
		scan_stack(scratch, layout, scratch->search.high, LS_SEARCH_MAX - LS_SEARCH_BLIND);
	if (!scratch->chain_count)
		return LS_WALK_NO_SCRIPT;
	last = scratch->chain_count - 1;
	if (known && !is_found(scratch) && last < LS_CHAIN_MAX &&
	    scratch->search.address < scratch->search.high &&
	    scratch->search.address < scratch->chain[last].anchor)
		return LS_WALK_STATE_BEYOND;
	return LS_WALK_NONE;
}

#endif
