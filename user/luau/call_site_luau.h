/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name by which a function of Luau calls another, from its bytecode. */
#ifndef LS_CALL_SITE_LUAU_H
#define LS_CALL_SITE_LUAU_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_luau.h"
#include "symbols/call_site.h"

/* As memory_ops.read_call_site() in interpreter/family.h. */
int call_site_luau__read(const struct target_memory *memory, const struct ls_luau_layout *layout,
			 uint64_t caller, uint32_t pc, struct call_site *site);

#endif
