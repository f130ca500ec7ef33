/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the forged VM, as 5.1 and 5.4 lay them out (lobject.h). */
#ifndef HOSTILE_TABLES_H
#define HOSTILE_TABLES_H

#include "image.h"

struct table_fields {
	size_t size, log_slots, array_count, array, node;
	size_t node_size, key, key_tag;
	uint8_t tag, string_tag, function_tag; /* of values */
};

extern const struct table_fields table_fields;

/* Makes a table with 2^log_slots slots, all nil. */
uint64_t table__new(struct image *image, unsigned int log_slots);

/* Sets slot `at` of the table to key = value. */
void table__set(struct image *image, uint64_t table, size_t at, const char *key, uint64_t value,
		uint8_t tag);

/* Gives the table an array part of `count` elements, of which only the last is set. */
void table__set_element(struct image *image, uint64_t table, size_t count, uint64_t value,
			uint8_t tag);

/*
 * Makes a table that each of its 2^log_slots slots holds, all under one key. The slots have memory
 * of their own, outside of the image, for they may be many.
 */
uint64_t table__of_itself(struct image *image, unsigned int log_slots, const char *key);

#endif
