/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables and strings in the memory of a VM of PUC Lua. Nothing in them is trusted. */
#ifndef LS_TABLE_PUC_H
#define LS_TABLE_PUC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "target_memory.h"

/* Bytes of a key that are read, the NUL behind them included. */
#define TABLE_PUC_KEY_SIZE 128

struct table_puc_layout;

/* What is read from, and how many slots of tables may still be looked at. */
struct table_puc_reader {
	const struct target_memory *memory;
	const struct ls_puc_layout *layout;
	const struct table_puc_layout *table_layout;
	size_t slots_left;
	bool cut_short; /* a table was left out because it has more slots than that */
};

/* A TValue: the number or the address, and the tag with its variant and collectable bits. */
struct table_puc_value {
	uint64_t value;
	uint32_t tag;
};

/* Returns whether the table goes on to its key; a key is only read where it is wanted. */
typedef bool table_puc_wants(const struct table_puc_reader *reader,
			     const struct table_puc_value *value);

/* `key` is as in the target, cut at 127 bytes, not escaped. 0, or an error that ends the walk. */
typedef int table_puc_visit(void *context, const char *key, const struct table_puc_value *value);

/* 0, or -ENOTSUP: a minor version whose tables are unknown. What it gets stays the caller's. */
int table_puc__start(struct table_puc_reader *reader, const struct target_memory *memory,
		     const struct ls_puc_layout *layout, size_t slots);

/* Adapts to a VM that lays out its tables in a way of its own (Redis), by the looks of `table`. */
void table_puc__adapt(struct table_puc_reader *reader, uint64_t table);

bool table_puc__is_table(const struct table_puc_reader *reader,
			 const struct table_puc_value *value);

/* The TValue at `address`. 0 or -errno. */
int table_puc__read_value(const struct table_puc_reader *reader, uint64_t address,
			  struct table_puc_value *value);

/* Element `index` (1..) of the array part. 0, -ENOENT (there is no such element), or -errno. */
int table_puc__element(const struct table_puc_reader *reader, uint64_t table, unsigned int index,
		       struct table_puc_value *value);

/* How many slots the hash part has. 0 or -errno (-EINVAL: this is no table). */
int table_puc__slots(const struct table_puc_reader *reader, uint64_t table, size_t *slots);

/* Its metatable, 0: none. 0 or -errno (-EINVAL: this is no table). */
int table_puc__metatable(const struct table_puc_reader *reader, uint64_t table,
			 uint64_t *metatable);

/*
 * Visits every slot of the hash part whose value is wanted and whose key is a string, not empty,
 * without a NUL. 0, -errno, -E2BIG (too many slots: none was visited), or what `visit` returned.
 */
int table_puc__each(struct table_puc_reader *reader, uint64_t table, table_puc_wants *wants,
		    table_puc_visit *visit, void *context);

#endif
