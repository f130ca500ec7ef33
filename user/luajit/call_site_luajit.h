/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names calls by the bytecode of their callers, as lj_debug.c does. */
#ifndef LS_CALL_SITE_LUAJIT_H
#define LS_CALL_SITE_LUAJIT_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_luajit.h"
#include "symbols/call_site.h"

/*
 * Finds the name by which the prototype at `caller` calls a function at instruction `pc`. Returns 0
 * with *site; -ENOMEM; -EFAULT or -ESRCH: unreadable; -EINVAL: no prototype or no such instruction.
 */
int call_site_luajit__read(const struct target_memory *memory,
			   const struct ls_luajit_layout *layout, uint64_t caller, uint32_t pc,
			   struct call_site *site);

#endif
