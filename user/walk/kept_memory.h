/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of pieces of a process's memory, to tell later whether they have changed: a coroutine that
 * was resumed while it was read is read again.
 */
#ifndef LS_KEPT_MEMORY_H
#define LS_KEPT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kept_memory;

/* NULL when out of memory. Free with kept_memory__free(), which takes NULL. */
struct kept_memory *kept_memory__new(void);
void kept_memory__free(struct kept_memory *kept);

/* Forgets all pieces. */
void kept_memory__clear(struct kept_memory *kept);

/* Copies `size` bytes that the process had at `address`. Without room, all counts as changed. */
void kept_memory__add(struct kept_memory *kept, const void *bytes, uint32_t size, uint64_t address);

/* Whether the process has the same bytes in all these places, when read several times. */
bool kept_memory__is_unchanged(const struct kept_memory *kept, pid_t pid);

#endif
