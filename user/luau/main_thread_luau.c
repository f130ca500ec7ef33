/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/main_thread_luau.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "interpreter/walker.h"
#include "luau/calibration_luau.h"
#include "luau/gc_pages_luau.h"
#include "luau/layout_luau.h"
#include "luau/prototype_luau.h"
#include "offsets_luau.h"
#include "system/processor_speed.h"

/* global_State follows the main thread (LG, lstate.cpp): lua_State takes up to 128 bytes so far. */
#define STATE_BYTES_MAX 192
#define GLOBAL_BYTES    4096 /* the main thread's address is among them in all releases */

#define EVIDENCE_MAX 16  /* functions that fit some layout; one usually suffices */
#define TRIES_MAX    512 /* functions that are tried */

/* Sizes of the closures that are examined: without upvalues to several, in any release. */
#define CLOSURE_BYTES_MIN 32
#define CLOSURE_BYTES_MAX 96

#define REASON_SIZE 160

#define TIME_MAX_NS 200000000ULL /* CPU time for the functions of a VM */

/* What the functions of a VM tell about its layout. */
struct evidence {
	const struct target_memory *memory;
	uint8_t thread;               /* LUA_TTHREAD */
	uint16_t layouts;             /* candidates */
	uint32_t fits[LS_LAYOUT_MAX]; /* how many functions fit each */
	uint32_t count, tries;
};

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Counts the layouts that these bytes fit, if they are a closure. */
static void weigh(struct evidence *evidence, const uint8_t *closure)
{
	bool fits_any = false;

	const struct layout_luau *known;

	for (uint32_t i = 0; (known = layout_luau__get(i)); i++) {
		const struct ls_luau_layout *layout = &known->offsets;

		if (!(evidence->layouts >> i & 1) ||
		    !prototype_luau__fits(evidence->memory, layout, evidence->thread,
					  word_at(closure, layout->closure_function),
					  closure[LS_LUAU_CLOSURE_UPVALUES]))
			continue;
		evidence->fits[i]++;
		fits_any = true;
	}
	evidence->count += fits_any;
}

static int visit_page(void *context, const struct gc_page_luau *page)
{
	struct evidence *evidence = context;

	for (uint32_t at = 0; at < page->size; at += 8) {
		const uint8_t *closure = page->bytes + at;

		if (closure[0] != evidence->thread - layouts_luau[0].offsets.function_type ||
		    closure[LS_LUAU_CLOSURE_IS_C])
			continue;
		weigh(evidence, closure);
		if (evidence->count == EVIDENCE_MAX || ++evidence->tries == TRIES_MAX)
			return 1;
	}
	return 0;
}

/*
 * Returns the layout that most functions fit, or LS_LAYOUT_MAX. With the memory next to it, a
 * function occasionally fits another layout, too.
 */
static uint32_t best_fit(const struct evidence *evidence)
{
	uint32_t best = 0, second = 0, at = LS_LAYOUT_MAX;

	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++) {
		if (evidence->fits[i] > best) {
			second = best;
			best = evidence->fits[i];
			at = i;
		} else if (evidence->fits[i] > second) {
			second = evidence->fits[i];
		}
	}
	return best > 2 * second ? at : LS_LAYOUT_MAX;
}

/* Derives the VM's layout. Returns its slot; LS_LAYOUT_MAX: the functions do not tell it. */
static uint32_t derive_layout(const struct target_memory *memory, uint64_t main_thread)
{
	struct ls_luau_layout layout;
	char reason[REASON_SIZE];
	int slot = calibration_luau__run(memory, main_thread, &layout, reason, sizeof(reason));

	if (!slot)
		slot = layout_luau__add(&layout);
	return slot < 0 ? LS_LAYOUT_MAX : (uint32_t)slot;
}

/* Returns which one of `layouts` the VM with that main thread has, or LS_LAYOUT_MAX. */
static uint32_t decide_layout(const struct target_memory *memory, uint16_t layouts,
			      uint64_t address, const struct ls_luau_state *state)
{
	struct evidence evidence = {.memory = memory, .thread = state->tt, .layouts = layouts};
	uint32_t slot;
	const struct gc_page_visitor_luau visitor = {
		.context = &evidence,
		.object_min = CLOSURE_BYTES_MIN,
		.object_max = CLOSURE_BYTES_MAX,
		.visit = visit_page,
	};

	if (layouts && !(layouts & (layouts - 1)))
		return (uint32_t)__builtin_ctz(layouts);
	slot = derive_layout(memory, address);
	if (slot < LS_LAYOUT_MAX)
		return slot;
	gc_pages_luau__visit(
		memory, state->global,
		clock_ns(CLOCK_THREAD_CPUTIME_ID) + processor_speed__scale(TIME_MAX_NS), &visitor);
	return best_fit(&evidence);
}

/* Whether global_State points back to its main thread. */
static bool is_global_of(const struct target_memory *memory, uint64_t global, uint64_t main_thread)
{
	uint64_t words[GLOBAL_BYTES / 8] = {};
	ssize_t count = target_memory__read_some(memory, global, words, sizeof(words));

	for (ssize_t i = 0; i < count / 8; i++)
		if (words[i] == main_thread)
			return true;
	return false;
}

static bool is_main_thread(const struct ls_luau_state *state, uint64_t address)
{
	return state->tt >= LS_LUAU_THREAD_MIN && state->tt <= LS_LUAU_THREAD_MAX &&
	       state->global >= address + sizeof(*state) &&
	       state->global <= address + STATE_BYTES_MAX && state->is_active <= 1 &&
	       state->single_step <= 1 && state->base >= state->stack &&
	       state->ci >= state->base_ci && state->ci <= state->end_ci;
}

bool main_thread_luau__find(const struct target_memory *memory, uint16_t layouts,
			    const uint8_t *bytes, uint64_t size, uint64_t address, uint64_t *at,
			    uint32_t *slot)
{
	struct ls_luau_state state;

	for (; *at < size; *at += 8) {
		memcpy(&state, bytes + *at, sizeof(state));
		if (!is_main_thread(&state, address + *at) ||
		    !is_global_of(memory, state.global, address + *at))
			continue;
		*slot = decide_layout(memory, layouts, address + *at, &state);
		return true;
	}
	return false;
}

_Static_assert(sizeof(struct ls_luau_state) <= MAIN_THREAD_BYTES, "they are readable");
