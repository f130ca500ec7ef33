/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a part of a file. The file may be truncated at any moment, so it is never mapped. */
#ifndef LS_FILE_BYTES_H
#define LS_FILE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_BYTES_NEEDLE 64 /* bytes; the longest that can be searched for */

/*
 * Opens the file that `found` was opened for with O_PATH, for reading. Never waits. The caller's
 * descriptor, with *size in bytes; -ENOEXEC: not a regular file; -EBUSY: somebody holds a lease on
 * it; other -errno.
 */
int file_bytes__open(int found, uint64_t *size);

/*
 * Reads the `*size` bytes at `offset`, malloc()ed; *size shrinks to what the file still has. NULL
 * when out of memory.
 */
char *file_bytes__read(int fd, uint64_t offset, uint64_t *size);

/* Whether `needle` is among these bytes. Needs little memory; also true when out of memory. */
bool file_bytes__hold(int fd, uint64_t offset, uint64_t size, const char *needle);

#endif
