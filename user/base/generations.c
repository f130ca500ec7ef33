/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/generations.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

struct entry {
	UT_hash_handle hh;
	uint64_t bytes[]; /* the key, then the value */
};

struct generations {
	struct entry *young;
	struct entry *old;
	uint32_t added;
	size_t key_size;
	size_t value_size;
	void (*drop)(void *value);
};

struct generations *generations__new(size_t key_size, size_t value_size, void (*drop)(void *value))
{
	struct generations *generations = calloc(1, sizeof(*generations));

	if (!generations)
		return NULL;
	generations->key_size = key_size;
	generations->value_size = value_size;
	generations->drop = drop;
	return generations;
}

static void *value_of(const struct generations *generations, struct entry *entry)
{
	return (uint8_t *)entry->bytes + generations->key_size;
}

static void drop_entry(const struct generations *generations, struct entry *entry)
{
	if (generations->drop)
		generations->drop(value_of(generations, entry));
	free(entry);
}

static void drop_all(const struct generations *generations, struct entry **table)
{
	struct entry *entry, *next;

	HASH_ITER (hh, *table, entry, next) {
		HASH_DEL(*table, entry);
		drop_entry(generations, entry);
	}
}

void generations__free(struct generations *generations)
{
	if (!generations)
		return;
	drop_all(generations, &generations->young);
	drop_all(generations, &generations->old);
	free(generations);
}

void *generations__find(struct generations *generations, const void *key)
{
	struct entry *entry;

	HASH_FIND(hh, generations->young, key, generations->key_size, entry);
	if (entry)
		return value_of(generations, entry);
	HASH_FIND(hh, generations->old, key, generations->key_size, entry);
	if (!entry)
		return NULL;
	HASH_DEL(generations->old, entry);
	HASH_ADD_KEYPTR(hh, generations->young, entry->bytes, generations->key_size, entry);
	if (HASH_HAS_ADDED(entry))
		return value_of(generations, entry);
	drop_entry(generations, entry);
	return NULL;
}

void *generations__add(struct generations *generations, const void *key)
{
	struct entry *entry =
		calloc(1, sizeof(*entry) + generations->key_size + generations->value_size);

	if (!entry)
		return NULL;
	memcpy(entry->bytes, key, generations->key_size);
	HASH_ADD_KEYPTR(hh, generations->young, entry->bytes, generations->key_size, entry);
	if (!HASH_HAS_ADDED(entry)) {
		free(entry);
		return NULL;
	}
	generations->added++;
	return value_of(generations, entry);
}

uint32_t generations__young(const struct generations *generations)
{
	return HASH_COUNT(generations->young);
}

uint32_t generations__added(const struct generations *generations)
{
	return generations->added;
}

void generations__age(struct generations *generations)
{
	drop_all(generations, &generations->old);
	generations->old = generations->young;
	generations->young = NULL;
	generations->added = 0;
}

void generations__visit(struct generations *generations, void (*visit)(void *context, void *value),
			void *context)
{
	struct entry *entry, *next;

	HASH_ITER (hh, generations->young, entry, next)
		visit(context, value_of(generations, entry));
	HASH_ITER (hh, generations->old, entry, next)
		visit(context, value_of(generations, entry));
}
