/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/coroutines_luau.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "luau/gc_pages_luau.h"
#include "offsets_luau.h"
#include "walk/coroutine_list.h"

#define READINGS_MAX 8             /* attempts: the list of pages breaks off while it changes */
#define TIME_MAX_NS  2000000000ULL /* CPU time for all of them */

/* lua_State takes 120 or 128 bytes; this leaves a margin. Pages have objects of a few sizes. */
#define STATE_BYTES_MAX 192

#define STATUS_BREAK 6 /* LUA_BREAK, lua.h */

struct reading {
	uint64_t vm, global;
	uint8_t thread; /* LUA_TTHREAD */
	struct coroutines *coroutines;
	size_t room;
};

/* What coroutine.status() would return (lua_costatus(), lapi.cpp), read from outside. */
static enum coroutine_status status_of(const struct ls_luau_state *state)
{
	if (state->status == STATUS_YIELDED_LUAU)
		return COROUTINE_SUSPENDED;
	if (state->is_active || state->status == STATUS_BREAK)
		return COROUTINE_ACTIVE;
	if (state->status)
		return COROUTINE_FAILED;
	if (state->ci != state->base_ci)
		return COROUTINE_ACTIVE;
	return state->top == state->base ? COROUTINE_FINISHED : COROUTINE_NOT_STARTED;
}

static bool is_coroutine(const struct reading *reading, const struct ls_luau_state *state)
{
	return state->tt == reading->thread && state->global == reading->global &&
	       state->is_active <= 1 && state->single_step <= 1 && state->base >= state->stack &&
	       state->ci >= state->base_ci && state->ci <= state->end_ci;
}

static int visit_page(void *context, const struct gc_page_luau *page)
{
	struct reading *reading = context;
	struct ls_luau_state state;
	int error = 0;

	reading->coroutines->objects += page->object_count;
	for (uint32_t at = 0; at < page->size && !error; at += 8) {
		if (page->bytes[at] != reading->thread)
			continue;
		memcpy(&state, page->bytes + at, sizeof(state));
		if (is_coroutine(reading, &state) && page->address + at != reading->vm)
			error = coroutine_list__add(reading->coroutines, &reading->room,
						    page->address + at, status_of(&state));
	}
	return error;
}

static int read_all(struct reading *reading, const struct target_memory *memory)
{
	const struct gc_page_visitor_luau visitor = {
		.context = reading,
		.object_min = sizeof(struct ls_luau_state),
		.object_max = STATE_BYTES_MAX,
		.visit = visit_page,
	};
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + TIME_MAX_NS;
	int error = -EAGAIN;

	for (int i = 0; i < READINGS_MAX && error == -EAGAIN; i++) {
		reading->coroutines->count = 0;
		error = gc_pages_luau__visit(memory, reading->global, end_ns, &visitor);
	}
	if (error > 0 || error == -EAGAIN || error == -E2BIG || error == -ENOENT) {
		reading->coroutines->is_cut_short = true;
		return 0;
	}
	return error;
}

int coroutines_luau__read(const struct target_memory *memory, const void *offsets, uint64_t vm,
			  struct coroutines *coroutines)
{
	struct reading reading = {.vm = vm, .coroutines = coroutines};
	struct ls_luau_state state;
	int error;

	(void)offsets;
	*coroutines = (struct coroutines){};
	error = target_memory__read(memory, vm, &state, sizeof(state));
	if (error)
		return error;
	if (state.tt < LS_LUAU_THREAD_MIN || state.tt > LS_LUAU_THREAD_MAX)
		return -EINVAL;
	reading.global = state.global;
	reading.thread = state.tt;
	error = read_all(&reading, memory);
	coroutine_list__turn_around(coroutines);
	return error;
}

_Static_assert(sizeof(struct ls_luau_state) <= GC_PAGE_LUAU_SLACK, "it is readable");
