/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the lua_States of LuaJIT that run on this thread.
 *
 * Each entry of the VM (lj_vm_call, lj_vm_resume and the like, vm_x64.dasc) makes a frame on the C
 * stack, to which L->cframe points and which holds L. A coroutine that yielded, ended or never
 * started has no cframe. So a state is active here exactly if its cframe is between SP and the end
 * of the thread's stack and holds the state; the lowest is the running one, those above are its
 * resumers, in order. This is not a heuristic. global_State.cur_L would not do: a callback from C
 * leaves it stale.
 */
#ifndef LS_FIND_STATE_LUAJIT_BPF_H
#define LS_FIND_STATE_LUAJIT_BPF_H

#include "luajit/scratch_luajit.bpf.h"

#define LS_HEAD_OFFSET LS_LUAJIT_BYTES(8, 4) /* of GCHeader.marked, lj_obj.h */
#ifdef LS_NARROW
#define LS_HALF_WORDS
#endif
#include "scan_stack.bpf.h"

#include "active_chain.bpf.h"

/* Chunks to read if nothing indicates that Lua runs, and if something does. */
#ifndef LS_CHUNKS_BLIND
#define LS_CHUNKS_BLIND 12
#define LS_CHUNKS_MAX   64
#endif

#define LS_STATUS_MAX   5 /* LUA_ERRERR, lua.h: while the handler of an error runs (lj_err_run) */
#define LS_CFRAME_FLAGS 3ULL /* CFRAME_RESUME and CFRAME_UNWIND_FF, lj_frame.h */

/* marked, gct, dummy_ffid (FF_C in each state) and status, lj_obj.h. */
static __always_inline bool is_state_head(__u64 head)
{
	return (head >> 8 & 0xffff) == (LS_LUAJIT_THREAD | LS_LUAJIT_FF_C << 8) &&
	       (head >> 24 & 0xff) <= LS_STATUS_MAX;
}

static __always_inline __u64 cframe_of(const struct ls_luajit_state *state)
{
	return state->cframe & ~LS_CFRAME_FLAGS;
}

/* Copies the state at `address`. Returns 0, or 1 if it is not one that is active on this stack. */
static __always_inline int read_active(struct ls_scratch *scratch, __u64 address,
				       struct ls_luajit_state *state,
				       struct ls_luajit_cframe *cframe)
{
	return read_target(state, sizeof(*state), address) || state->gct != LS_LUAJIT_THREAD ||
	       state->ffid != LS_LUAJIT_FF_C || !is_pointer(state->stack) ||
	       !is_pointer(state->global) || !on_stack(scratch, cframe_of(state)) ||
	       read_target(cframe, sizeof(*cframe), cframe_of(state)) || cframe->state != address;
}

/* Returns the main thread of the VM with this global_State, or 0 if it is no global_State. */
static __always_inline __u64 main_thread_of(const struct ls_luajit_layout *layout, __u64 global)
{
	ls_luajit_ref_t main_thread;
	__u64 head;

	if (read_target(&main_thread, sizeof(main_thread), global + layout->global_main_thread) ||
	    !is_pointer(main_thread) ||
	    read_target(&head, sizeof(head), main_thread + LS_HEAD_OFFSET) || !is_state_head(head))
		return 0;
	return main_thread;
}

/*
 * Adds a main thread that is active although the search has not found a pointer to it. It bounds
 * how far up its coroutines can be. Returns whether it was added.
 */
static __always_inline bool add_main_thread(struct ls_scratch *scratch, __u64 state)
{
	if (read_active(scratch, state, &scratch->other_state, &scratch->other_cframe))
		return false;
	add_active(scratch, state, cframe_of(&scratch->other_state), scratch->other_state.base,
		   state);
	return true;
}

/*
 * Considers an object that has the tag of a state. Adds it to the chain and returns true if it is
 * an active one. __noinline: verified once for all callers.
 */
__noinline bool consider(struct ls_scratch *scratch, const struct ls_luajit_layout *layout,
			 __u64 address)
{
	__u64 global, main_thread;

	if (!scratch || !layout ||
	    read_active(scratch, address, &scratch->other_state, &scratch->other_cframe))
		return false;
	global = scratch->other_state.global;
	main_thread = main_thread_of(layout, global);
	if (!main_thread)
		return false;
	add_active(scratch, address, cframe_of(&scratch->other_state), scratch->other_state.base,
		   main_thread);
	if (address == main_thread)
		scratch->search.rooted = 1;
	else if (!scratch->search.is_shared && !scratch->search.rooted &&
		 scratch->search.global != global)
		scratch->search.rooted = add_main_thread(scratch, main_thread);
	scratch->search.global = global;
	return true;
}

/* Whether the search is done: nothing above a known main thread's own frame matters. */
static __always_inline bool is_found(const struct ls_scratch *scratch)
{
	__u32 last = scratch->chain_count - 1;

	if (scratch->search.is_cut)
		return true;
	if (scratch->search.is_shared)
		return scratch->chain_count &&
		       scratch->search.address > scratch->chain[0].anchor + LS_FAR_BYTES;
	return scratch->search.rooted && last < LS_CHAIN_MAX &&
	       scratch->chain[last].anchor < scratch->search.address;
}

/* Drops the resumers of chain[0] that are not proven to be on the same stack. */
static long keep_near(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	const struct ls_active *child = &scratch->chain[i % LS_CHAIN_MAX];
	const struct ls_active *next = &scratch->chain[(i + 1) % LS_CHAIN_MAX];

	if (i + 1 >= scratch->chain_count)
		return 1;
	if (child->state != child->main_thread && next->main_thread == child->main_thread &&
	    next->anchor - child->anchor < LS_NEAR_BYTES)
		return 0;
	scratch->chain_count = i + 1;
	scratch->search.is_cut = child->state != child->main_thread;
	return 1;
}
LS_STEP(keep_near);

/*
 * A mapping may hold several stacks: C coroutines lie side by side, each with states of its own
 * that keep their frames while another runs. Only what is near SP is taken for this stack's.
 */
static __always_inline int keep_own(struct ls_scratch *scratch,
				    const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch->search.is_shared)
		return LS_WALK_NONE;
	if (scratch->chain[0].anchor - scratch->sp > LS_FAR_BYTES)
		return LS_WALK_STACK_OWNER;
	scratch->search.is_cut = 0;
	repeat(LS_CHAIN_MAX, keep_near, &pass);
	return LS_WALK_NONE;
}

/*
 * Whether the root of the last sample still has a C frame, although the search found no state.
 * Outside of the VM it has none, so this may not be time without a script.
 */
static __always_inline int is_entered(struct ls_scratch *scratch, const struct ls_thread *thread)
{
	return thread->root.state && thread->own_stack &&
	       !read_target(&scratch->other_state, sizeof(scratch->other_state),
			    thread->root.state) &&
	       scratch->other_state.gct == LS_LUAJIT_THREAD && cframe_of(&scratch->other_state);
}

/*
 * Fills scratch->chain by a search of the registers and the stack. Returns LS_WALK_NONE or the
 * error. If the root of the last sample is still active, Lua certainly runs, and the root's frame
 * shows how far up.
 */
static __always_inline int search_stack(struct ls_scratch *scratch,
					const struct ls_luajit_layout *layout,
					const struct ls_thread *thread)
{
	int known = 0;
	__u32 last;

	scratch->chain_count = 0;
	if (thread->root.state && thread->own_stack &&
	    thread->root.state == thread->root.main_thread)
		known = add_main_thread(scratch, thread->root.state);
	scratch->search.rooted = known;
	scan_registers(scratch, layout);
	scan_stack(scratch, layout, scratch->search.high, LS_CHUNKS_BLIND);
	if (scratch->chain_count && !is_found(scratch))
		scan_stack(scratch, layout, scratch->search.high, LS_CHUNKS_MAX - LS_CHUNKS_BLIND);
	if (!scratch->chain_count)
		return is_entered(scratch, thread) ? LS_WALK_STATE_BEYOND : LS_WALK_NO_SCRIPT;
	last = scratch->chain_count - 1;
	if (known && !is_found(scratch) && last < LS_CHAIN_MAX &&
	    scratch->search.address < scratch->search.high &&
	    scratch->search.address < scratch->chain[last].anchor)
		return LS_WALK_STATE_BEYOND;
	return keep_own(scratch, layout);
}

struct ls_recall {
	struct ls_scratch *scratch;
	const struct ls_thread *thread;
};

/* Checks one link of the last sample's chain, from the root. 1: it does not hold. */
static long recall_active(__u32 i, void *context)
{
	const struct ls_recall *recall = context;
	struct ls_scratch *scratch = recall->scratch;
	__u32 at = (recall->thread->chain_count - 1 - i) % LS_CHAIN_MAX;
	const struct ls_active *active = &recall->thread->chain[at];

	if (read_active(scratch, active->state, &scratch->other_state, &scratch->other_cframe) ||
	    cframe_of(&scratch->other_state) != active->anchor ||
	    (at && scratch->other_state.base != active->ci))
		return 1;
	scratch->chain[at] = *active;
	scratch->search.standing++;
	return 0;
}
LS_STEP(recall_active);

/*
 * Reuses the last sample's chain if it still holds and no state can be deeper: SP is at the VM's
 * frame of the running state, so the VM itself runs. Each resumer is in the same call as before.
 */
static __always_inline bool chain_stands(struct ls_scratch *scratch, const struct ls_thread *thread)
{
	struct ls_recall recall = {.scratch = scratch, .thread = thread};
	__u32 count = thread->chain_count;

	if (!count || count > LS_CHAIN_MAX || thread->chain[0].anchor != scratch->sp)
		return false;
	scratch->search.standing = 0;
	repeat(count, recall_active, &recall);
	if (scratch->search.standing != count)
		return false;
	scratch->chain_count = count;
	scratch->search.is_cut = thread->chain_is_cut;
	return true;
}

/* Finds the chain of active states, scratch->chain. Returns LS_WALK_NONE or the error. */
static __always_inline int find_chain(struct ls_scratch *scratch,
				      const struct ls_luajit_layout *layout,
				      struct ls_thread *thread)
{
	__u32 count;
	int error;

	search_begin(scratch, thread);
	if (chain_stands(scratch, thread))
		return LS_WALK_NONE;
	error = search_stack(scratch, layout, thread);
	if (scratch->search.lost)
		learn_gap(scratch);
	count = scratch->chain_count;
	thread->chain_count = 0;
	if (error || !count || count > LS_CHAIN_MAX)
		return error;
	thread->chain_count = count;
	thread->chain_is_cut = scratch->search.is_cut;
	__builtin_memcpy(thread->chain, scratch->chain, sizeof(thread->chain));
	thread->root = scratch->chain[(count - 1) % LS_CHAIN_MAX];
	return LS_WALK_NONE;
}

#endif
