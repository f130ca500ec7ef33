/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "objects.h"

#define TAG_OF_OBJECT 8
#define TYPE_TABLE    5
#define COLLECTABLE   64

#if MINOR == 1
const struct table_fields table_fields = {.size = 64,
					  .log_slots = 11,
					  .array_count = 56,
					  .array = 24,
					  .node = 32,
					  .node_size = 40,
					  .key = 16,
					  .key_tag = 24,
					  .tag = TYPE_TABLE,
					  .string_tag = 4,
					  .function_tag = 6};
#define LAST_FREE 40
#else
const struct table_fields table_fields = {.size = 56,
					  .log_slots = 11,
					  .array_count = 12,
					  .array = 16,
					  .node = 24,
					  .node_size = 24,
					  .key = 16,
					  .key_tag = 9,
					  .tag = TYPE_TABLE | COLLECTABLE,
					  .string_tag = 4 | COLLECTABLE,
					  .function_tag = 22};
#define LAST_FREE 32
#endif

static uint64_t table_at(struct image *image, unsigned int log_slots, uint64_t nodes)
{
	uint64_t table = image__allocate(image, table_fields.size);

	memory__put(&image->memory, table + TAG_OF_OBJECT, TYPE_TABLE, 1);
	memory__put(&image->memory, table + table_fields.log_slots, log_slots, 1);
	memory__put(&image->memory, table + table_fields.node, nodes, 8);
	memory__put(&image->memory, table + LAST_FREE, nodes, 8);
	return table;
}

uint64_t table__new(struct image *image, unsigned int log_slots)
{
	return table_at(image, log_slots,
			image__allocate(image, table_fields.node_size << log_slots));
}

static void set_node(struct image *image, uint64_t node, uint64_t key, uint64_t value, uint8_t tag)
{
	memory__put(&image->memory, node, value, 8);
	memory__put(&image->memory, node + 8, tag, 1);
	memory__put(&image->memory, node + table_fields.key_tag, table_fields.string_tag, 1);
	memory__put(&image->memory, node + table_fields.key, key, 8);
}

void table__set(struct image *image, uint64_t table, size_t at, const char *key, uint64_t value,
		uint8_t tag)
{
	uint64_t nodes = memory__get(&image->memory, table + table_fields.node, 8);

	set_node(image, nodes + at * table_fields.node_size, image__string(image, key, strlen(key)),
		 value, tag);
}

void table__set_element(struct image *image, uint64_t table, size_t count, uint64_t value,
			uint8_t tag)
{
	uint64_t array = image__allocate(image, 16 * count);

	memory__put(&image->memory, table + table_fields.array, array, 8);
	memory__put(&image->memory, table + table_fields.array_count, count, 4);
	memory__put(&image->memory, array + 16 * (count - 1), value, 8);
	memory__put(&image->memory, array + 16 * (count - 1) + 8, tag, 1);
}

uint64_t table__of_itself(struct image *image, unsigned int log_slots, const char *key)
{
	uint64_t nodes = (uint64_t)calloc(table_fields.node_size, 1UL << log_slots);
	uint64_t table = table_at(image, log_slots, nodes);
	uint64_t text = image__string(image, key, strlen(key));

	if (!nodes)
		abort();
	for (size_t i = 0; i < 1UL << log_slots; i++)
		set_node(image, nodes + i * table_fields.node_size, text, table, table_fields.tag);
	return table;
}
