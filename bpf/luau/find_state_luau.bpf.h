/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the lua_States of Luau that are active and that this native stack has pointers to.
 *
 * A state is active (isactive) while it runs and while it waits for one that it has resumed.
 * Nothing in it points to the native stack, so more is needed to tell which state runs, and whether
 * it runs here: order_luau.bpf.h. A state must also be consistent: the sizes of its arrays are
 * multiples of their elements' sizes, and its VM has a main thread that belongs to the VM.
 */
#ifndef LS_FIND_STATE_LUAU_BPF_H
#define LS_FIND_STATE_LUAU_BPF_H

#include "luau/scratch_luau.bpf.h"

#define LS_HEAD_OFFSET 0 /* of CommonHeader, lobject.h */
#include "scan_stack.bpf.h"

#include "active_chain.bpf.h"

/* Chunks to read if nothing indicates that a script runs, and if something does. */
#ifndef LS_CHUNKS_BLIND
#define LS_CHUNKS_BLIND 12
#define LS_CHUNKS_MAX   64
#endif

#define LS_STACK_MAX (1U << 24) /* values: LUAI_MAXCSTACK (1,000,000), luaconf.h, and a margin */

/* global_State.gray, grayagain and weak, lstate.h, may point to any thread. */
#define LS_GLOBAL_LISTS 40
#define LS_GLOBAL_AFTER 64
#define LS_GLOBAL_READS 8

/* tt, status, isactive and singlestep: of a state, active or not. */
static __always_inline bool is_state_head(__u64 head)
{
	__u8 tt = head, status = head >> 24, is_active = head >> 40, single_step = head >> 48;

	return tt >= LS_LUAU_THREAD_MIN && tt <= LS_LUAU_THREAD_MAX && is_active <= 1 &&
	       single_step <= 1 && (status <= LS_LUAU_STATUS_MAX || status == LS_LUAU_REENTRY);
}

static __always_inline bool is_active_head(__u64 head)
{
	return is_state_head(head) && (__u8)(head >> 40);
}

/* Returns the size of each of `count` elements in `bytes`; 0: not a whole number. */
static __always_inline __u32 size_of_each(__u64 bytes, __u32 count)
{
	__u64 size = count ? bytes / count : 0;

	return size * count == bytes && size < 256 ? size : 0;
}

static __always_inline bool is_value_size(__u32 size)
{
	return size == 16 || size == 24;
}

/* Returns the size of a value, if it is one. Releases up to 2022 kept one more free at the end. */
static __always_inline __u32 value_size_of(__u64 bytes, __u32 count)
{
	__u32 size = size_of_each(bytes, count);

	return is_value_size(size) ? size : size_of_each(bytes, count - 1);
}

/*
 * Measures a value. While the stack is being enlarged, `stack` is the new one already, but its end
 * and all addresses of values are those of the old one until the rest of it is filled
 * (luaD_reallocstack(), ldo.cpp). The old one begins where the first call's `func` is
 * (stack_init(), lstate.cpp). Returns 0, or 1 if the state contradicts itself. __noinline, like the
 * next function, because stacks of callers add up.
 */
__noinline int measure_values(const struct ls_luau_state *state, struct ls_luau_sizes *sizes)
{
	__u64 old;
	__u32 count;

	if (!state || !sizes)
		return 1;
	count = state->stack_size - LS_LUAU_EXTRA_STACK;
	if (state->stack_size > LS_STACK_MAX || count > LS_STACK_MAX || !is_pointer(state->stack) ||
	    state->base > state->stack_last)
		return 1;
	sizes->moved = 0;
	sizes->value = value_size_of(state->stack_last - state->stack, count);
	if (!is_value_size(sizes->value)) {
		if (read_target(&old, sizeof(old), state->base_ci + LS_LUAU_CI_FUNC))
			return 1;
		sizes->moved = state->stack - old;
		sizes->value = value_size_of(state->stack_last - old, count);
	}
	return !is_value_size(sizes->value) || state->base + sizes->moved < state->stack;
}

/* Measures a call, likewise. */
__noinline int measure_calls(const struct ls_luau_state *state, struct ls_luau_sizes *sizes)
{
	__u32 count;

	if (!state || !sizes)
		return 1;
	count = state->ci_count - 1;
	if (count > LS_STACK_MAX || !is_pointer(state->base_ci) || !is_pointer(state->ci) ||
	    state->ci < state->base_ci || state->ci > state->end_ci)
		return 1;
	sizes->ci = size_of_each(state->end_ci - state->base_ci, count);
	return (sizes->ci != 40 && sizes->ci != 48) || (state->ci - state->base_ci) % sizes->ci;
}

/* Fills *sizes. Returns 0, or 1 if the state contradicts itself. */
static __always_inline int measure(const struct ls_luau_state *state, struct ls_luau_sizes *sizes)
{
	sizes->thread = state->tt;
	return !is_pointer(state->global) || measure_values(state, sizes) ||
	       measure_calls(state, sizes);
}

/* Copies a state and measures it. Returns 0, or 1 if it is not an active state. */
static __always_inline int read_active(__u64 address, struct ls_luau_state *state,
				       struct ls_luau_sizes *sizes)
{
	return read_target(state, sizeof(*state), address) ||
	       !is_active_head(*(const __u64 *)state) || measure(state, sizes);
}

/*
 * Whether the call at L->ci has begun; `callers_base` is the base of the call below. luau_precall()
 * (lvmexecute.cpp) makes L->ci point to a call before it fills in the fields, which an earlier call
 * has left, and sets L->base last.
 */
static __always_inline bool has_begun(const struct ls_luau_state *state, __u64 callers_base)
{
	return state->base != callers_base;
}

/* Whether it is a thread of scratch->global, active or not. */
static __always_inline bool is_thread_of_global(struct ls_scratch *scratch, __u64 address)
{
	struct ls_global_search *search = &scratch->global;

	return is_pointer(address) && !read_target(search->head, sizeof(search->head), address) &&
	       (__u8)search->head[0] == search->thread &&
	       search->head[offsetof(struct ls_luau_state, global) / 8] == search->global;
}

static long try_global_word(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_global_search *search = &scratch->global;
	__u64 word = search->words[i % LS_GLOBAL_WORDS];
	__u32 offset = (search->part * LS_GLOBAL_WORDS + i) * 8;

	if ((offset >= LS_GLOBAL_LISTS && offset < LS_GLOBAL_AFTER) ||
	    !is_thread_of_global(scratch, word))
		return 0;
	search->main_thread = word;
	return 1;
}
LS_STEP(try_global_word);

static long search_global_part(__u32 i, void *context)
{
	struct ls_global_search *search = &((const struct ls_pass *)context)->scratch->global;

	search->part = i;
	if (read_target(search->words, sizeof(search->words),
			search->global + i * sizeof(search->words)))
		return 1;
	repeat(LS_GLOBAL_WORDS, try_global_word, context);
	return !!search->main_thread;
}
LS_STEP(search_global_part);

/*
 * Returns the main thread of the VM with this global_State, or 0 if it is no global_State. It is
 * the first word there, outside the garbage collector's lists, that points to a thread which points
 * back. __noinline: verified once.
 */
__noinline __u64 main_thread_of(struct ls_scratch *scratch, __u64 global, __u32 thread)
{
	struct ls_pass pass = {.scratch = scratch};
	struct ls_global_search *search;
	struct ls_cached_vm *vm;

	if (!scratch)
		return 0;
	search = &scratch->global;
	search->global = global;
	search->thread = thread;
	search->main_thread = 0;
	vm = &scratch->vms[ls_fold(scratch->tgid, global) % LS_VM_CACHE_MAX];
	if (vm->global == global && vm->tgid == scratch->tgid &&
	    is_thread_of_global(scratch, vm->main_thread))
		return vm->main_thread;
	repeat(LS_GLOBAL_READS, search_global_part, &pass);
	vm->global = global;
	vm->tgid = scratch->tgid;
	vm->main_thread = search->main_thread;
	return search->main_thread;
}

/*
 * While a state moves its stack or its calls to a larger array, its fields contradict each other
 * (luaD_reallocstack(), ldo.cpp). Notes the VM of such a state if it says that it is active.
 */
static __always_inline void note_unsettled(struct ls_scratch *scratch)
{
	const struct ls_luau_state *state = &scratch->other_state;
	__u32 at = scratch->unsettled.count;

	if (at >= LS_UNSETTLED_MAX || !is_active_head(*(const __u64 *)state) ||
	    !is_pointer(state->global))
		return;
	scratch->unsettled.globals[at] = state->global;
	scratch->unsettled.count = at + 1;
	scratch->unsettled.thread = state->tt;
}

/*
 * Considers an object that has the tag of a state. Adds it to the chain and returns true if it is
 * an active one, whose VM is still to be checked. __noinline: verified once for all callers.
 */
__noinline bool consider(struct ls_scratch *scratch, const struct ls_luau_layout *layout,
			 __u64 address)
{
	if (!scratch || !layout ||
	    read_target(&scratch->other_state, sizeof(scratch->other_state), address))
		return false;
	if (!is_active_head(*(const __u64 *)&scratch->other_state) ||
	    measure(&scratch->other_state, &scratch->other_sizes)) {
		note_unsettled(scratch);
		return false;
	}
	add_active(scratch, address, scratch->search.address, scratch->other_state.ci, 0);
	return true;
}

/* Whether the search is done. A resumer may be anywhere further up. */
static __always_inline bool is_found(const struct ls_scratch *scratch)
{
	return scratch->search.is_cut;
}

/*
 * Fills scratch->chain, in the order in which states were found. LS_WALK_NONE or the error. If the
 * root of the last sample is still active, a script certainly runs, however far up.
 */
static __always_inline int find_chain(struct ls_scratch *scratch,
				      const struct ls_luau_layout *layout,
				      const struct ls_thread *thread)
{
	bool is_known;

	search_begin(scratch, thread);
	scratch->chain_count = 0;
	scratch->unsettled.count = 0;
	scratch->unsettled.is_here = 0;
	for (__u32 i = 0; i < LS_UNSETTLED_MAX; i++)
		scratch->unsettled.globals[i] = 0;
	scan_registers(scratch, layout);
	scan_stack(scratch, layout, scratch->search.high, LS_CHUNKS_BLIND);
	is_known = !scratch->chain_count && thread->root.state && thread->own_stack &&
		   !read_active(thread->root.state, &scratch->other_state, &scratch->other_sizes);
	if (scratch->chain_count || is_known)
		scan_stack(scratch, layout, scratch->search.high, LS_CHUNKS_MAX - LS_CHUNKS_BLIND);
	if (scratch->search.lost)
		learn_gap(scratch);
	/* Resumers may be further up. */
	if (scratch->search.address < scratch->search.high)
		scratch->search.is_cut = 1;
	if (scratch->chain_count)
		return LS_WALK_NONE;
	if (scratch->unsettled.count &&
	    main_thread_of(scratch, scratch->unsettled.globals[0], scratch->unsettled.thread))
		return LS_WALK_STATE_MEMORY;
	return is_known ? LS_WALK_STATE_BEYOND : LS_WALK_NO_SCRIPT;
}

#endif
