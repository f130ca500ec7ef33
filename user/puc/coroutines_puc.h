/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the coroutines of a PUC Lua VM. Each is an object on the garbage collector's list of all
 * objects, from which it may be unlinked and freed at any moment while the VM runs.
 */
#ifndef LS_COROUTINES_PUC_H
#define LS_COROUTINES_PUC_H

#include <stdint.h>

#include "interpreter/walker.h"
#include "offsets_puc.h"
#include "process/target_memory.h"

#define COROUTINE_PUC_YIELDED 1 /* lua_State.status: LUA_YIELD, lua.h */

/*
 * Reads the coroutines of the VM whose main thread is `vm`, except that one. Returns 0, even if
 * cut short; -ENOMEM; -EFAULT or -ESRCH: the VM cannot be read; -EINVAL: it is no VM. The caller
 * frees coroutines->items in every case.
 */
int coroutines_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t vm, struct coroutines *coroutines);

#endif
