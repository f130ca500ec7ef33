/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lua_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define TYPE_THREAD 8 /* lua.h */

struct walk {
	const struct target_memory *memory;
	const struct ls_puc_layout *layout;
	uint64_t state;
};

static uint64_t read_number(const struct walk *walk, uint64_t address, size_t size)
{
	uint64_t number = 0;

	assert_int_equal(target_memory__read(walk->memory, address, &number, size), 0);
	return number;
}

static uint64_t read_pointer(const struct walk *walk, uint64_t address)
{
	return read_number(walk, address, sizeof(uint64_t));
}

static uint64_t saved_pc(const struct walk *walk, uint64_t ci)
{
	const struct ls_puc_layout *layout = walk->layout;

	if (layout->state_savedpc && ci == read_pointer(walk, walk->state + layout->state_ci))
		return read_pointer(walk, walk->state + layout->state_savedpc);
	return read_pointer(walk, ci + layout->ci_savedpc);
}

static struct lua_frame read_frame(const struct walk *walk, uint64_t ci)
{
	const struct ls_puc_layout *layout = walk->layout;
	uint64_t value = read_pointer(walk, ci + layout->ci_func);
	uint64_t closure = read_pointer(walk, value);
	uint64_t status = read_number(walk, ci + layout->ci_status, layout->ci_status_size);
	struct lua_frame frame = {0};

	frame.is_lua =
		read_number(walk, value + 8, 1) == layout->tag_lua_function &&
		!(layout->closure_is_c && read_number(walk, closure + layout->closure_is_c, 1));
	/* 5.1 counts tail calls, and sets the count for Lua functions only. */
	frame.is_tail_called =
		status & layout->status_tail && (frame.is_lua || !layout->ci_is_array);
	if (!frame.is_lua)
		return frame;
	frame.proto = read_pointer(walk, closure + layout->closure_proto);
	frame.pc = (uint32_t)((saved_pc(walk, ci) -
			       read_pointer(walk, frame.proto + layout->proto_code)) /
				      4 -
			      1);
	return frame;
}

static void reverse(struct lua_frame *frames, size_t count)
{
	struct lua_frame frame;
	size_t i;

	for (i = 0; i < count / 2; i++) {
		frame = frames[i];
		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

size_t lua_frames__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			uint64_t state, struct lua_frame *frames, size_t max)
{
	struct walk walk = {.memory = memory, .layout = layout, .state = state};
	uint64_t ci = read_pointer(&walk, state + layout->state_ci);
	uint64_t base = state + layout->state_base_ci;
	size_t count = 0;

	assert_int_equal(read_number(&walk, state + 8, 1), TYPE_THREAD);
	if (layout->ci_is_array)
		base = read_pointer(&walk, base);
	while (ci != base) {
		assert_in_range(count, 0, max - 1);
		frames[count++] = read_frame(&walk, ci);
		ci = layout->ci_is_array ? ci - layout->ci_size
					 : read_pointer(&walk, ci + layout->ci_previous);
	}
	reverse(frames, count);
	return count;
}

uint64_t lua_frames__main_thread(const struct target_memory *memory,
				 const struct ls_puc_layout *layout, uint64_t state)
{
	struct walk walk = {.memory = memory, .layout = layout, .state = state};
	uint64_t global = read_pointer(&walk, state + layout->state_global);

	/* From 5.5 on it lies inside global_State. */
	if (layout->minor >= 5)
		return global + layout->global_main_thread;
	return read_pointer(&walk, global + layout->global_main_thread);
}
