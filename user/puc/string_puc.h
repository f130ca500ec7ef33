/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A string object of PUC Lua (TString) in the target. */
#ifndef LS_STRING_PUC_H
#define LS_STRING_PUC_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_puc.h"

/*
 * Finds where the text of the string at `address` is, and its length in bytes, which may be any
 * number. 0; -EINVAL: not a string; other -errno: cannot be read.
 */
int string_puc__find(const struct target_memory *memory, const struct ls_puc_layout *layout,
		     uint64_t address, uint64_t *text, uint64_t *length);

#endif
