/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables in the memory of a VM. Each interpreter family reads its own through these operations.
 * Nothing in the tables is trusted.
 */
#ifndef LS_VM_TABLES_H
#define LS_VM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/target_memory.h"

/* Bytes of a key that are read, including the NUL behind it. */
#define TABLE_KEY_SIZE 128

struct table_ops;

/* What to read from, and how many table slots may still be read. */
struct table_reader {
	const struct table_ops *ops;
	const struct target_memory *memory;
	const void *offsets;      /* of the family's layout */
	const void *table_layout; /* the family's own, set by open() */
	size_t slots_left;
	bool cut_short; /* a table was left out: it has more slots than slots_left */
};

/* A number or an address, and the family's own tag. */
struct table_value {
	uint64_t value;
	uint32_t tag;
};

enum value_kind {
	VALUE_OTHER,
	VALUE_TABLE,
	VALUE_FUNCTION, /* of a script or in C */
};

/* Addresses of the tables from which the VM's others are found. */
struct vm_roots {
	uint64_t registry;
	uint64_t globals; /* 0: not found */
};

/* Whether a walk visits this value; only then does it read the key. */
typedef bool table_wants(const struct table_reader *reader, const struct table_value *value);

/* `key` is as in the target, cut at 127 bytes, not escaped. 0, or an error that ends the walk. */
typedef int table_visit(void *context, const char *key, const struct table_value *value);

struct table_ops {
	/*
	 * Sets table_layout and finds the tables of the VM of `state`. 0; -ENOTSUP: a release whose
	 * tables are unknown; -EFAULT, -ESRCH: the registry cannot be read.
	 */
	int (*open)(struct table_reader *reader, uint64_t state, struct vm_roots *roots);

	enum value_kind (*kind)(const struct table_reader *reader, const struct table_value *value);

	/*
	 * The address of the C function in `value`; 0: it is not one that could be given a name, or
	 * cannot be read. *instance is the closure, if it has upvalues.
	 */
	uint64_t (*c_function)(const struct table_reader *reader, const struct table_value *value,
			       uint64_t *instance);

	/* The address of the prototype of the script function in `value`; 0: it is none. */
	uint64_t (*prototype)(const struct table_reader *reader, const struct table_value *value);

	/* Stores how many slots the hash part has. 0 or -errno (-EINVAL: this is no table). */
	int (*slots)(const struct table_reader *reader, uint64_t table, size_t *slots);

	/* Stores the metatable of `table`, 0: none. 0 or -errno (-EINVAL: this is no table). */
	int (*metatable)(const struct table_reader *reader, uint64_t table, uint64_t *metatable);

	/*
	 * Visits every slot of the hash part whose value is wanted and whose key is a non-empty
	 * string without a NUL. 0, -errno, -E2BIG (too many slots: none was visited), or what
	 * `visit` returned.
	 */
	int (*each)(struct table_reader *reader, uint64_t table, table_wants *wants,
		    table_visit *visit, void *context);
};

#endif
