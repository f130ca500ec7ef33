/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which line each instruction of a prototype of PUC Lua came from, copied from the target. */
#ifndef LS_LINE_TABLE_PUC_H
#define LS_LINE_TABLE_PUC_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "target_memory.h"

struct line_table_puc;

/*
 * Copies the table of the prototype at `prototype`. 0 with *table, or with NULL where the chunk was
 * stripped of its lines; -ENOMEM; -EFAULT: cannot be read; -EINVAL: no prototype, or its table
 * does not make sense (torn, hostile); -E2BIG: more instructions than any compiler leaves behind.
 * Free *table with line_table_puc__free(). The caller checks, with the fingerprint and after
 * reading, that the prototype is still the one that was sampled.
 */
int line_table_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t prototype, struct line_table_puc **table);
void line_table_puc__free(struct line_table_puc *table);

/* The line of instruction `pc`, from 1; 0: there is no such instruction, or no table (NULL). */
uint32_t line_table_puc__line(const struct line_table_puc *table, uint32_t pc);

/* Bytes that it takes. */
size_t line_table_puc__size(const struct line_table_puc *table);

#endif
