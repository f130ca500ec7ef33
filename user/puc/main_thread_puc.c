/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/main_thread_puc.h"

#include <stddef.h>
#include <string.h>

#include "puc/layout_puc.h"
#include "tags_puc.h"

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Where the global_State of a main thread at `address` must be. */
static uint64_t global_of(const struct ls_puc_layout *layout, uint64_t address)
{
	return layout->main_thread_is_embedded ? address - layout->global_main_thread
					       : address + layout->state_size;
}

/* Whether `global` points back to the main thread (up to 5.4) and has a registry. */
static bool is_global(const struct target_memory *memory, const struct ls_puc_layout *layout,
		      uint64_t global, uint64_t main_thread)
{
	uint64_t back, registry[2], head[2];

	if (!layout->main_thread_is_embedded &&
	    (target_memory__read(memory, global + layout->global_main_thread, &back,
				 sizeof(back)) ||
	     back != main_thread))
		return false;
	return !target_memory__read(memory, global + layout->global_registry, registry,
				    sizeof(registry)) &&
	       LS_TYPE(registry[1]) == LS_TYPE_TABLE &&
	       !target_memory__read(memory, registry[0], head, sizeof(head)) &&
	       (head[1] & 0xff) == LS_TYPE_TABLE;
}

/* Whether `bytes` are a main thread under exactly one layout, *slot. */
static bool is_main_thread(const struct target_memory *memory, uint16_t layouts,
			   const uint8_t *bytes, uint64_t address, uint32_t *slot)
{
	int count = 0;

	for (uint32_t i = 0; i < layouts_puc_count; i++) {
		const struct ls_puc_layout *layout = &layouts_puc[i].offsets;
		uint64_t global = global_of(layout, address);

		if (!(layouts >> i & 1) || bytes[layout->state_status] ||
		    word_at(bytes, layout->state_global) != global ||
		    !is_global(memory, layout, global, address))
			continue;
		*slot = i;
		count++;
	}
	return count == 1;
}

bool main_thread_puc__find(const struct target_memory *memory, uint16_t layouts,
			   const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t *at,
			   uint32_t *slot)
{
	for (; *at < size; *at += 8)
		if (bytes[*at + LS_OBJECT_TAG] == LS_TYPE_THREAD &&
		    is_main_thread(memory, layouts, bytes + *at, address + *at, slot))
			return true;
	return false;
}
