/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The top level of a profile: what each sample, and each stretch of time, is filed under.
 *
 *   thread   the name that its thread has then
 *   process  "lua5.4 (pid 42)"
 *   state    the VM that runs: "Lua VM 1 (0x55d0c3a012a8)", numbered as they are first seen, with
 *            the address of its main thread (what "%p" shows of the lua_State that luaL_newstate
 *            returned); coroutines are their VM's. A VM that is made where another was closed
 *            goes on with that one's category: from outside they are not told apart.
 *   chunk    where the outermost Lua function of the stack is defined
 *
 * Time without script has no VM and no chunk: it is filed under "(no VM)" and "(no chunk)"; a stack
 * whose resumers are missing, or whose outermost function was collected, under "(unknown chunk)".
 */
#ifndef LS_CATEGORY_H
#define LS_CATEGORY_H

#include <stdint.h>

#include "record.h"

enum category_kind { CATEGORY_THREAD, CATEGORY_PROCESS, CATEGORY_STATE, CATEGORY_CHUNK };

/* The kind that is called so, or -EINVAL. */
int category__parse(const char *word);

struct categories;

/*
 * Of one process. `process` is shown for it; copied. Where it is one of many, it is before the
 * names of VMs too. NULL when out of memory. __free() takes NULL.
 */
struct categories *categories__new(enum category_kind kind, const char *process, int is_of_many);
void categories__free(struct categories *categories);

/* Another name for the process. 0 or -ENOMEM. */
int categories__rename(struct categories *categories, const char *process);

/* The process runs another program: its VMs are others, wherever they lie. */
void categories__forget_vms(struct categories *categories);

/*
 * What a sample is filed under; good until the next call. `source` is that of its outermost Lua
 * function, needed for chunks alone; NULL: not known.
 */
const char *categories__of_sample(struct categories *categories, const struct ls_sample *sample,
				  const char *source);

/* The same for time of a thread that no sample covers. */
const char *categories__of_thread(struct categories *categories, const char *comm);

#endif
