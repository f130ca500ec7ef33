/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The build ID that linkers write into a program or library to tell it from every other build. */
#ifndef LS_BUILD_ID_H
#define LS_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define BUILD_ID_MAX 64 /* bytes; ld writes 20 (SHA-1), 16 (MD5, UUID) or a given value */

/*
 * Reads the note NT_GNU_BUILD_ID from the first segments of notes. Returns its size in bytes; 0:
 * there is none, or it is longer than BUILD_ID_MAX.
 */
size_t build_id__read(const struct elf_file *file, uint8_t id[BUILD_ID_MAX]);

#endif
