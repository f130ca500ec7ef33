/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/main_thread_luajit.h"

#include <stddef.h>
#include <string.h>

#include "interpreter/walker.h"
#include "luajit/layout_luajit.h"
#include "offsets_luajit.h"

/* OpenResty's lua_State has 16 bytes more. */
#define STATE_BYTES_MAX (sizeof(struct ls_luajit_state) + 16)

static bool has_type(uint64_t value, uint8_t type)
{
	return value >> LS_LUAJIT_TYPE_SHIFT == LS_LUAJIT_TYPE(type);
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint64_t reference_at(const uint8_t *bytes, size_t offset)
{
	ls_luajit_ref_t reference;

	memcpy(&reference, bytes + offset, sizeof(reference));
	return reference;
}

static bool is_state_of(const struct target_memory *memory, uint64_t address, uint64_t global)
{
	struct ls_luajit_state state;

	return !(address & 7) && !target_memory__read(memory, address, &state, sizeof(state)) &&
	       state.gct == LS_LUAJIT_THREAD && state.ffid == LS_LUAJIT_FF_C &&
	       state.global == global;
}

/*
 * Whether `global` points back to the main thread, its registry is a table, and the state that ran
 * last belongs to this VM.
 */
static bool is_global(const struct target_memory *memory, const struct ls_luajit_layout *layout,
		      const uint8_t *bytes, uint64_t global, uint64_t main_thread)
{
	struct ls_luajit_header registry;
	uint64_t value = word_at(bytes, layout->global_registry);
	uint64_t current = reference_at(bytes, layout->global_current);

	return reference_at(bytes, layout->global_main_thread) == main_thread &&
	       has_type(value, LS_LUAJIT_TABLE) &&
	       !target_memory__read(memory, value & LS_LUAJIT_ADDRESS, &registry,
				    sizeof(registry)) &&
	       registry.gct == LS_LUAJIT_TABLE &&
	       ((layout->has_jit_state && !current) || is_state_of(memory, current, global));
}

/*
 * Whether `state` is a main thread under exactly one layout, *slot. Under any other, the state that
 * ran last does not belong to this VM.
 */
static bool is_main_thread(const struct target_memory *memory, uint16_t layouts,
			   const struct ls_luajit_state *state, uint64_t address, uint32_t *slot)
{
	uint8_t global[LS_LUAJIT_GLOBAL_MAX];
	int count = 0;

	if (state->global < address + sizeof(*state) || state->global > address + STATE_BYTES_MAX ||
	    target_memory__read(memory, state->global, global, sizeof(global)))
		return false;
	for (uint32_t i = 0; i < layouts_luajit_count; i++) {
		if (!(layouts >> i & 1) ||
		    !is_global(memory, &layouts_luajit[i].offsets, global, state->global, address))
			continue;
		*slot = i;
		count++;
	}
	return count == 1;
}

bool main_thread_luajit__find(const struct target_memory *memory, uint16_t layouts,
			      const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t *at,
			      uint32_t *slot)
{
	struct ls_luajit_state state;

	for (; *at < size; *at += 8) {
		memcpy(&state, bytes + *at, sizeof(state));
		if (state.gct == LS_LUAJIT_THREAD && state.ffid == LS_LUAJIT_FF_C &&
		    is_main_thread(memory, layouts, &state, address + *at, slot))
			return true;
	}
	return false;
}

_Static_assert(sizeof(struct ls_luajit_state) <= MAIN_THREAD_BYTES, "they are readable");
