/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts in the target's memory: the sources of chunks. */
#ifndef LS_TARGET_TEXT_H
#define LS_TARGET_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "memory/target_memory.h"

/*
 * Reads `length` bytes, without a NUL, into *text, which the caller frees. 0, or -errno with *text
 * NULL: -E2BIG: they are more than `most`; -ENOMEM.
 */
int target_text__read(const struct target_memory *memory, uint64_t address, size_t length,
		      size_t most, char **text);

#endif
