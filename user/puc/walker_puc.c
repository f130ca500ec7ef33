/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/family_puc.h"

#include <string.h>

#include "puc/layout_puc.h"
#include "puc/main_thread_puc.h"
#include "tags_puc.h"
#include "walk/coroutine_list.h"

/* No sampled program waits for this walk, so it searches stacks to their end, mostly 8 MiB. */
#define LS_SEARCH_BLIND 4096
#define LS_SEARCH_MAX   8192

static long send_definition(struct ls_function *function);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "walk/bpf_shim.h"
#include "puc/walk_puc.bpf.h"
#include "select_layout.bpf.h"
#include "gc.bpf.h"
#pragma GCC diagnostic pop

/* Fields of a lua_State that change when it is resumed. */
struct mark {
	uint64_t ci, top, stack;
};

#include "walk/standing_walk.h"

static const struct ls_puc_layout *find_layout(__u32 slot)
{
	return slot < layouts_puc_count ? &layouts_puc[slot].offsets : NULL;
}

static void keep_read(struct walker *walker, const void *to, uint32_t size, uint64_t address)
{
	const struct ls_scratch *scratch = walker->scratch;
	const struct ls_puc_layout *layout = find_layout(scratch->sample.layout);
	const uint8_t words[] = {layout->state_ci, layout->state_top, layout->state_stack,
				 layout->state_error_jump};

	if (to == scratch->ci.bytes || to == scratch->stack.bytes)
		kept_memory__add(walker->kept, to, size, address);
	if (to != scratch->state)
		return;
	for (size_t i = 0; i < sizeof(words); i++)
		kept_memory__add(walker->kept, scratch->state + words[i], 8, address + words[i]);
	kept_memory__add(walker->kept, scratch->state + layout->state_status, 1,
			 address + layout->state_status);
}

static struct walked_stack walk(struct walker *walker, const struct walker_place *place,
				const struct ls_image *image)
{
	struct ls_scratch *scratch = walker->scratch;

	begin_thread(walker, place);
	select_layout(scratch, &walker->thread, image);
	if (scratch->sample.frame_count && is_in_gc(scratch, image))
		scratch->sample.activity = LS_ACTIVITY_GC;
	return end_walk(walker);
}

/* ---- coroutines */

#define STATUS_YIELDED 1 /* lua_State.status: LUA_YIELD, lua.h */

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static bool read_mark(const struct walker *walker, struct mark *mark)
{
	const struct ls_puc_layout *layout = find_layout(walker->suspended_slot);
	uint8_t copy[256] = {};

	if (target_memory__read(&walker->memory, walker->suspended, copy, layout->state_size))
		return false;
	mark->ci = word_at(copy, layout->state_ci);
	mark->top = word_at(copy, layout->state_top);
	mark->stack = word_at(copy, layout->state_stack);
	return copy[layout->state_status] == STATUS_YIELDED &&
	       !word_at(copy, layout->state_error_jump);
}

static void read_exactly(struct ls_scratch *scratch, __u64 is_exact)
{
	scratch->ci.is_exact = is_exact;
	scratch->stack.is_exact = is_exact;
	scratch->closures.is_exact = is_exact;
	scratch->protos.is_exact = is_exact;
}

static void walk_yielded(struct ls_scratch *scratch, uint32_t slot)
{
	scratch->walk.is_suspended = true;
	read_exactly(scratch, 1);
	walk_chain(scratch, find_layout(slot));
	read_exactly(scratch, 0);
}

/* What coroutine.status() would return (lcorolib.c, auxstatus), read from outside. */
static enum coroutine_status status_of(const void *offsets, uint64_t state, const uint8_t *copy)
{
	const struct ls_puc_layout *layout = offsets;
	uint64_t base_ci = layout->ci_is_array ? word_at(copy, layout->state_base_ci)
					       : state + layout->state_base_ci;
	uint64_t values = word_at(copy, layout->state_top) - word_at(copy, layout->state_stack);

	if (word_at(copy, layout->state_error_jump))
		return COROUTINE_ACTIVE;
	if (copy[layout->state_status] == STATUS_YIELDED)
		return COROUTINE_SUSPENDED;
	if (copy[layout->state_status])
		return COROUTINE_FAILED;
	if (word_at(copy, layout->state_ci) != base_ci)
		return COROUTINE_ACTIVE;
	/* The first value is the function entry of base_ci (lstate.c, stack_init()). */
	return values > 16 ? COROUTINE_NOT_STARTED : COROUTINE_FINISHED;
}

static int read_coroutines(const struct target_memory *memory, const void *offsets, uint64_t vm,
			   struct coroutines *coroutines)
{
	const struct ls_puc_layout *layout = offsets;
	const struct coroutine_list list = {
		.type_at = LS_OBJECT_TAG,
		.type_mask = LS_TYPE(0xff),
		.type_first = LS_TYPE_STRING,
		.type_last = LS_TYPE_LAST,
		.coroutine = LS_TYPE_THREAD,
		.state_size = layout->state_size,
		.state_global = layout->state_global,
		.global_objects = layout->global_objects,
		.reference_size = sizeof(uint64_t),
		.offsets = offsets,
		.status = status_of,
	};

	return coroutine_list__read(&list, memory, vm, coroutines);
}

const struct walker_ops walker_ops_puc = {
	.new = new_walker,
	.free = free_walker,
	.walk = walk,
	.walk_suspended = walk_suspended,
	.is_unchanged = is_unchanged,
	.read_coroutines = read_coroutines,
	.find_main_thread = main_thread_puc__find,
};
