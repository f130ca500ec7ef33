/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of PUC Lua have no names of their own. A function is named after the instruction that
 * called it, as in debug.getinfo(f, "n") (ldebug.c, funcnamefromcode and getobjname).
 */
#ifndef LS_CALL_SITE_PUC_H
#define LS_CALL_SITE_PUC_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_puc.h"
#include "symbols/call_site.h"

/*
 * Reads by which name the prototype at `caller` calls a function at instruction `pc`. Afterwards,
 * check with the fingerprint that the prototype is still the one that was sampled.
 * Returns 0; -ENOMEM; -EFAULT: cannot be read; -EINVAL: inconsistent (torn or hostile).
 */
int call_site_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			uint64_t caller, uint32_t pc, struct call_site *site);

#endif
