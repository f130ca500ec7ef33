/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The call chain of a lua_State that does not run, read without anything of luaspy's own walker. */
#ifndef TEST_LUA_FRAMES_H
#define TEST_LUA_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_puc.h"

struct lua_frame {
	bool is_lua;
	bool is_tail_called;
	uint64_t proto; /* of Lua functions, and pc as well */
	uint32_t pc;
};

/* The frames of `state`, outermost first, at most `max`. Fails the test if it makes no sense. */
size_t lua_frames__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			uint64_t state, struct lua_frame *frames, size_t max);

/* The main thread that `state` belongs to. */
uint64_t lua_frames__main_thread(const struct target_memory *memory,
				 const struct ls_puc_layout *layout, uint64_t state);

#endif
