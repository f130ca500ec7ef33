/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies the line table of a PUC Lua prototype from the target. */
#ifndef LS_LINE_TABLE_PUC_H
#define LS_LINE_TABLE_PUC_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_puc.h"
#include "symbols/line_table.h"

/*
 * Copies the line table of the prototype at `prototype`. Returns 0 with *table, which is NULL if
 * the chunk was stripped of its lines; -ENOMEM; -EFAULT: cannot be read; -EINVAL: no prototype, or
 * an inconsistent table (torn or hostile); -E2BIG: more instructions than any compiler generates.
 * Free *table with line_table__free(). Afterwards, check with the fingerprint that the prototype is
 * still the one that was sampled.
 */
int line_table_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t prototype, struct line_table **table);

#endif
