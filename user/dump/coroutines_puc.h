/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The coroutines of a VM of PUC Lua: each is an object on the list of all objects that the garbage
 * collector keeps, from which they are taken off and freed at any moment while the VM runs.
 */
#ifndef LS_COROUTINES_PUC_H
#define LS_COROUTINES_PUC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "target_memory.h"

#define COROUTINE_PUC_YIELDED 1 /* lua_State.status: LUA_YIELD, lua.h */

enum coroutine_status {
	COROUTINE_ACTIVE, /* it runs, or has resumed another; or has calls without having yielded */
	COROUTINE_SUSPENDED,   /* it has yielded */
	COROUTINE_NOT_STARTED, /* it has a function and nothing else */
	COROUTINE_FINISHED,    /* nothing is on its stack */
	COROUTINE_FAILED,      /* ended by an error */
};

struct coroutine_puc {
	uint64_t state;
	enum coroutine_status status;
};

struct coroutines_puc {
	struct coroutine_puc *items; /* the oldest first; owned */
	size_t count;
	uint64_t objects;  /* looked at */
	bool is_cut_short; /* the list is too long, or broke off: there may be more */
};

/*
 * Those of the VM whose main thread is `vm`, without that. 0, also where it is cut short; -ENOMEM;
 * -EFAULT or -ESRCH: the VM cannot be read; -EINVAL: it is none. Free in every case.
 */
int coroutines_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t vm, struct coroutines_puc *coroutines);
void coroutines_puc__free(struct coroutines_puc *coroutines);

#endif
