/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/walker_luau.h"

#include <string.h>

#include "luau/coroutines_luau.h"
#include "luau/layout_luau.h"
#include "luau/main_thread_luau.h"

/* No sampled program waits for this walk, so it searches stacks to their end, mostly 8 MiB. */
#define LS_CHUNKS_BLIND 4096
#define LS_CHUNKS_MAX   8192

static long send_definition(struct ls_function *function);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "walk/bpf_shim.h"
#include "luau/walk_luau.bpf.h"
#include "select_layout.bpf.h"
#pragma GCC diagnostic pop

/* Fields of a lua_State that change when it is resumed. */
struct mark {
	uint64_t top, base, ci, stack, base_ci;
};

#include "walk/standing_walk.h"

static const struct ls_luau_layout *find_layout(__u32 slot)
{
	const struct layout_luau *layout = layout_luau__get(slot);

	return layout ? &layout->offsets : NULL;
}

/* Keeps status, is_active and all from top on, but not the byte of the garbage collector's mark. */
static void keep_state(struct kept_memory *kept, const struct ls_luau_state *state,
		       uint64_t address)
{
	const size_t fields = offsetof(struct ls_luau_state, top);

	kept_memory__add(kept, &state->status, 1, address + offsetof(struct ls_luau_state, status));
	kept_memory__add(kept, &state->is_active, 1,
			 address + offsetof(struct ls_luau_state, is_active));
	kept_memory__add(kept, &state->top, sizeof(*state) - fields, address + fields);
}

static void keep_read(struct walker *walker, const void *to, uint32_t size, uint64_t address)
{
	const struct ls_scratch *scratch = walker->scratch;

	if (to == scratch->calls.bytes || to == scratch->stack.bytes)
		kept_memory__add(walker->kept, to, size, address);
	if (to == &scratch->state)
		keep_state(walker->kept, to, address);
}

static struct walked_stack walk(struct walker *walker, const struct walker_place *place,
				const struct ls_image *image)
{
	struct ls_scratch *scratch = walker->scratch;
	struct ls_sample *sample = &scratch->sample;

	begin_thread(walker, place);
	select_layout(scratch, &walker->thread, image);
	if (sample->error == LS_WALK_UNDECIDED && scratch->chain_count && !scratch->order.count) {
		/* Without knowing which state runs, the walk did not need a layout yet. */
		sample->error = LS_WALK_STACK_OWNER;
		sample->flags &= (uint8_t)~LS_SAMPLE_MISFIT;
	}
	return end_walk(walker);
}

/* ---- coroutines */

static bool has_yielded(const struct ls_luau_state *state)
{
	return state->tt >= LS_LUAU_THREAD_MIN && state->tt <= LS_LUAU_THREAD_MAX &&
	       state->status == STATUS_YIELDED_LUAU && !state->is_active;
}

static bool read_mark(const struct walker *walker, struct mark *mark)
{
	struct ls_luau_state state;

	if (target_memory__read(&walker->memory, walker->suspended, &state, sizeof(state)))
		return false;
	*mark = (struct mark){.top = state.top,
			      .base = state.base,
			      .ci = state.ci,
			      .stack = state.stack,
			      .base_ci = state.base_ci};
	return has_yielded(&state);
}

static void read_exactly(struct ls_scratch *scratch, __u64 is_exact)
{
	scratch->calls.is_exact = is_exact;
	scratch->stack.is_exact = is_exact;
	scratch->closures.is_exact = is_exact;
	scratch->protos.is_exact = is_exact;
}

/*
 * The calls of a yielded state look like those of a state that has resumed another: each has saved
 * its pc, and none is half done. So it is walked as one. A Lua function is on top if the host's
 * interrupt callback has made it yield.
 */
static void walk_yielded(struct ls_scratch *scratch, uint32_t slot)
{
	struct ls_pass pass = {.scratch = scratch, .layout = find_layout(slot)};
	struct ls_walk *walk = &scratch->walk;

	if (read_target(&scratch->state, sizeof(scratch->state), scratch->chain[0].state) ||
	    !has_yielded(&scratch->state) || measure(&scratch->state, &walk->sizes)) {
		note_error(scratch, LS_WALK_STATE_MEMORY);
		return;
	}
	note_layout(scratch, pass.layout);
	scratch->calls.end = 0;
	scratch->stack.end = 0;
	read_exactly(scratch, 1);
	enter_calls(scratch);
	walk->chain_index = 1;
	if (repeat(LS_CALLS_PARTS, walk_calls, &pass) == LS_CALLS_PARTS)
		scratch->sample.error = LS_WALK_CALL_CHAIN;
	close_gap(scratch);
	read_exactly(scratch, 0);
	if (scratch->sample.frame_count && scratch->frames[0].kind == LS_FRAME_LUA)
		scratch->frames[0].flags |= LS_FRAME_HOOKED;
}

const struct walker_ops walker_ops_luau = {
	.new = new_walker,
	.free = free_walker,
	.walk = walk,
	.walk_suspended = walk_suspended,
	.is_unchanged = is_unchanged,
	.read_coroutines = coroutines_luau__read,
	.find_main_thread = main_thread_luau__find,
};
