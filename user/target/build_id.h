/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What linkers write into a program or library to tell it from every other build. */
#ifndef LS_BUILD_ID_H
#define LS_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

#define BUILD_ID_MAX 64 /* bytes; ld writes 20 (SHA-1), 16 (MD5, UUID) or what it is told */

/*
 * The note NT_GNU_BUILD_ID of the first segments of notes. Its bytes, of which there are as many as
 * it returns; 0: there is none, or one that is longer.
 */
size_t build_id__read(const struct elf_file *file, uint8_t id[BUILD_ID_MAX]);

#endif
