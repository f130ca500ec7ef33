/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The top level of a profile: what each sample, and each stretch of time, is filed under.
 *
 *   thread   the name that its thread has at that time
 *   process  "lua5.4 app.lua (pid 42)"
 *   state    the VM that runs: "Lua VM 1 (0x55d0c3a012a8)", numbered in the order of their first
 *            samples, with the address of its main thread (what "%p" shows for the lua_State that
 *            luaL_newstate() returned); coroutines belong to their VM. A VM created at the address
 *            of a closed one continues that one's category: from outside they look the same.
 *            Where the host counts memory by categories, each that runs is a part of its VM: "Lua
 *            VM 1 (0x55d0c3a012a8), memory category 5". They have numbers only.
 *   chunk    where the outermost Lua function of the stack is defined
 *
 * Time without script has no VM and no chunk: it is filed under "(no VM)" and "(no chunk)". A stack
 * whose resumers are missing, or whose outermost function was garbage-collected, is filed under
 * "(unknown chunk)".
 */
#ifndef LS_CATEGORY_H
#define LS_CATEGORY_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

enum category_kind { CATEGORY_THREAD, CATEGORY_PROCESS, CATEGORY_STATE, CATEGORY_CHUNK };

/* Returns the kind with that name, or -EINVAL. */
int category__parse(const char *word);

struct categories;

/*
 * Creates the categories of one process, which is shown as `process`; copied. If it is one of many,
 * `process` also precedes the names of VMs. NULL when out of memory. __free() takes NULL.
 */
struct categories *categories__new(enum category_kind kind, const char *process, bool is_of_many);
void categories__free(struct categories *categories);

/* Renames the process. 0 or -ENOMEM. */
int categories__rename(struct categories *categories, const char *process);

/* The process runs another program: its VMs are new ones, even at the same addresses. */
void categories__forget_vms(struct categories *categories);

/*
 * The category of a sample; valid until the next call. `source` is that of its outermost Lua
 * function, only needed for CATEGORY_CHUNK; NULL: unknown.
 */
const char *categories__of_sample(struct categories *categories, const struct ls_sample *sample,
				  const char *source);

/* The same for CPU time of a thread that no sample covers. */
const char *categories__of_thread(struct categories *categories, const char *comm);

#endif
