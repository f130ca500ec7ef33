/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cache in two generations. Entries that are added or found are young. When the cache ages, young
 * entries become old, and old ones that were not found since it last aged are dropped. So its size
 * is bounded by how often it ages, and entries in use stay.
 */
#ifndef LS_GENERATIONS_H
#define LS_GENERATIONS_H

#include <stddef.h>
#include <stdint.h>

struct generations;

/*
 * Keys and values are bytes of these sizes; values are aligned for any type if `key_size` is a
 * multiple of 8. `drop`, unless NULL, frees what a value owns. NULL when out of memory.
 */
struct generations *generations__new(size_t key_size, size_t value_size, void (*drop)(void *value));
void generations__free(struct generations *generations);

/* Returns the value and makes it young; NULL if there is none. Valid until it is dropped. */
void *generations__find(struct generations *generations, const void *key);

/* Adds a zeroed value under a key that must not exist yet. NULL when out of memory. */
void *generations__add(struct generations *generations, const void *key);

/* The number of young entries, and of those added since the cache last aged. */
uint32_t generations__young(const struct generations *generations);
uint32_t generations__added(const struct generations *generations);

void generations__age(struct generations *generations);

/* Calls `visit` for every value. `visit` must not remove values from the cache. */
void generations__visit(struct generations *generations, void (*visit)(void *context, void *value),
			void *context);

#endif
