/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A part of a file that may be truncated at any moment: read, never mapped. */
#ifndef LS_FILE_BYTES_H
#define LS_FILE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_BYTES_NEEDLE 64 /* bytes: the longest that is looked for */

/*
 * The `*size` bytes at `offset`, malloc()ed; *size shrinks to what the file still has. NULL when
 * out of memory.
 */
char *file_bytes__read(int fd, uint64_t offset, uint64_t *size);

/* Whether `needle` is among these bytes, in little memory; true too when out of that. */
bool file_bytes__hold(int fd, uint64_t offset, uint64_t size, const char *needle);

#endif
