/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cache in two generations. What is added or asked for is young; when the cache ages, what was
 * young is old, and what was old and not asked for since is dropped. So its size is bounded by how
 * often it ages, and what is in use stays.
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

/* The value, young now; NULL: there is none. Valid until it is dropped. */
void *generations__find(struct generations *generations, const void *key);

/* A value of zeros under a key that is not there yet. NULL when out of memory. */
void *generations__add(struct generations *generations, const void *key);

/* How many are young, and how many were added since the cache aged. */
uint32_t generations__young(const struct generations *generations);
uint32_t generations__added(const struct generations *generations);

void generations__age(struct generations *generations);

/* Shows every value, which must stay in the cache meanwhile. */
void generations__visit(struct generations *generations, void (*visit)(void *context, void *value),
			void *context);

#endif
