/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The coroutines of a VM of Luau. */
#ifndef LS_COROUTINES_LUAU_H
#define LS_COROUTINES_LUAU_H

#include "interpreter/walker.h"

#define STATUS_YIELDED_LUAU 1 /* lua_State.status: LUA_YIELD, lua.h */

/* As walker_ops.read_coroutines() in interpreter/walker.h. */
int coroutines_luau__read(const struct target_memory *memory, const void *offsets, uint64_t vm,
			  struct coroutines *coroutines);

#endif
