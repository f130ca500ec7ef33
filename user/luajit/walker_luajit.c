/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/walker_luajit.h"

#include <string.h>

#include "luajit/layout_luajit.h"
#include "luajit/main_thread_luajit.h"
#include "walk/coroutine_list.h"

/* No sampled program waits for this walk, so it searches stacks to their end, mostly 8 MiB. */
#define LS_CHUNKS_BLIND 4096
#define LS_CHUNKS_MAX   8192

static long send_definition(struct ls_function *function);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "walk/bpf_shim.h"
#include "luajit/walk_luajit.bpf.h"
#include "select_layout.bpf.h"
#pragma GCC diagnostic pop

/* Fields of a lua_State that change when it is resumed. */
struct mark {
	uint64_t base, top, stack;
};

#include "walk/standing_walk.h"

static const struct ls_luajit_layout *find_layout(__u32 slot)
{
	return slot < layouts_luajit_count ? &layouts_luajit[slot].offsets : NULL;
}

static void keep_read(struct walker *walker, const void *to, uint32_t size, uint64_t address)
{
	if (to == walker->scratch->stack.bytes)
		kept_memory__add(walker->kept, to, size, address);
}

static struct walked_stack walk(struct walker *walker, const struct walker_place *place,
				const struct ls_image *image)
{
	struct ls_scratch *scratch = walker->scratch;
	struct ls_sample *sample = &scratch->sample;

	begin_thread(walker, place);
	scratch->walk.in_system_call = place->in_system_call;
	select_layout(scratch, &walker->thread, image);
	if (sample->error == LS_WALK_UNDECIDED && scratch->walk.lacks_registers) {
		/* Such a stack says nothing about layouts. */
		sample->error = LS_WALK_REGISTERS;
		sample->flags &= (uint8_t)~LS_SAMPLE_MISFIT;
	}
	return end_walk(walker);
}

/* ---- coroutines */

#define STATUS_YIELDED 1 /* lua_State.status: LUA_YIELD, lua.h */

#define TYPE_FIRST LS_LUAJIT_STRING
#define TYPE_LAST  LS_LUAJIT_USERDATA

static bool read_mark(const struct walker *walker, struct mark *mark)
{
	struct ls_luajit_state state;

	if (target_memory__read(&walker->memory, walker->suspended, &state, sizeof(state)))
		return false;
	*mark = (struct mark){.base = state.base, .top = state.top, .stack = state.stack};
	return state.gct == LS_LUAJIT_THREAD && state.status == STATUS_YIELDED && !state.cframe;
}

/* A hook that yields leaves a dummy frame on top (lua_yield, lj_api.c). */
static bool has_yielded_in_hook(struct ls_scratch *scratch)
{
	const __u64 *slots = read_slots(scratch, scratch->walk.base - LS_FRAME_BYTES);

	return slots && is_dummy(scratch, slots[0]);
}

static void walk_yielded(struct ls_scratch *scratch, uint32_t slot)
{
	struct ls_pass pass = {.scratch = scratch, .layout = find_layout(slot)};
	struct ls_luajit_state *state = &scratch->state;
	bool is_hooked;

	if (read_target(state, sizeof(*state), scratch->chain[0].state) ||
	    state->gct != LS_LUAJIT_THREAD || read_global(scratch, pass.layout)) {
		note_error(scratch, LS_WALK_STATE_MEMORY);
		return;
	}
	scratch->content.string_text = pass.layout->string_text;
	scratch->content.op_iterc = pass.layout->op_iterc;
	enter_stack(scratch, 0);
	if (scratch->is_undecided)
		check_global(scratch);
	scratch->stack.is_exact = 1;
	is_hooked = has_yielded_in_hook(scratch);
	walk_to_root(&pass);
	scratch->stack.is_exact = 0;
	if (is_hooked && scratch->sample.frame_count)
		scratch->frames[0].flags |= LS_FRAME_HOOKED;
}

/* What coroutine.status() would return (lib_base.c), read from outside. */
static enum coroutine_status status_of(const void *offsets, uint64_t address, const uint8_t *copy)
{
	struct ls_luajit_state state;

	(void)offsets;
	(void)address;
	memcpy(&state, copy, sizeof(state));
	if (state.cframe)
		return COROUTINE_ACTIVE;
	if (state.status == STATUS_YIELDED)
		return COROUTINE_SUSPENDED;
	if (state.status)
		return COROUTINE_FAILED;
	if (state.base > state.stack + LS_FRAME_BYTES)
		return COROUTINE_ACTIVE;
	return state.top == state.base ? COROUTINE_FINISHED : COROUTINE_NOT_STARTED;
}

static int read_coroutines(const struct target_memory *memory, const void *offsets, uint64_t vm,
			   struct coroutines *coroutines)
{
	const struct ls_luajit_layout *layout = offsets;
	const struct coroutine_list list = {
		.type_at = offsetof(struct ls_luajit_header, gct),
		.type_mask = 0xff,
		.type_first = TYPE_FIRST,
		.type_last = TYPE_LAST,
		.coroutine = LS_LUAJIT_THREAD,
		.state_size = sizeof(struct ls_luajit_state),
		.state_global = offsetof(struct ls_luajit_state, global),
		.global_objects = layout->global_objects,
		.reference_size = sizeof(ls_luajit_ref_t),
		.offsets = offsets,
		.status = status_of,
	};

	return coroutine_list__read(&list, memory, vm, coroutines);
}

const struct walker_ops walker_ops_luajit = {
	.new = new_walker,
	.free = free_walker,
	.walk = walk,
	.walk_suspended = walk_suspended,
	.is_unchanged = is_unchanged,
	.read_coroutines = read_coroutines,
	.find_main_thread = main_thread_luajit__find,
};
