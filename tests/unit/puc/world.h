/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A virtual machine of Lua 5.4 in this process's own memory, of hand-made tables, and the names
 * that symbols/c_functions.h finds in them.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "puc/family_puc.h"
#include "symbols/c_functions.h"

/* lobject.h of 5.4 */
#define TAG_TABLE        69
#define TAG_SHORT_STRING 68
#define TAG_LONG_STRING  84
#define TAG_INTEGER      3
#define TAG_LUA_CLOSURE  70
#define TAG_LIGHT        22
#define TAG_C_CLOSURE    102
#define NODES            16

struct node {
	uint64_t value;
	uint8_t tag, key_tag;
	uint16_t padding;
	int32_t next;
	uint64_t key;
};

struct table {
	uint64_t next;
	uint8_t tt, marked, flags, log_slots;
	uint32_t array_count;
	uint64_t array, node, last_free, metatable, gclist;
	size_t used;
	struct node nodes[NODES];
};

struct string {
	uint64_t next;
	uint8_t tt, marked, extra, short_length;
	uint32_t hash;
	uint64_t length;
	char text[300];
};

struct closure {
	uint64_t next;
	uint8_t tt, marked, upvalue_count, padding[5];
	uint64_t gclist, function;
};

struct value {
	uint64_t value;
	uint8_t tag;
	uint8_t padding[7];
};

/* A VM with an empty package.loaded, no metatables, and globals that nothing else refers to. */
struct world {
	uint8_t state[256], global[2048];
	struct value array[2];
	struct table tables[24];
	struct string strings[128];
	struct closure closures[8];
	size_t table_count, string_count, closure_count;
	struct table *registry, *loaded, *globals;
	struct c_function_names *functions;
};

/* For a test, whose state is the world. */
int world__set_up(void **state);
int world__tear_down(void **state);

#define with_world(test) cmocka_unit_test_setup_teardown(test, world__set_up, world__tear_down)

/* Each adds a value to a table; keys have no NUL but where their length is told. */
void world__add_bytes(struct world *world, struct table *table, const char *key, size_t length,
		      uint8_t tag, uint64_t value);
void world__add(struct world *world, struct table *table, const char *key, uint8_t tag,
		uint64_t value);
void world__add_light(struct world *world, struct table *table, const char *key, uint64_t function);
void world__add_closure(struct world *world, struct table *table, const char *key,
			uint64_t function, int upvalues);

/* A new table as `key` of `table`, or for nobody. */
struct table *world__add_table(struct world *world, struct table *table, const char *key);

/* The layout and the memory that world__read() uses. */
const struct ls_puc_layout *world__layout(void);
struct target_memory world__memory(void);

/* Reads the names of C functions. 0 or a negative errno. */
int world__read(struct world *world);

/* Returns the name of the function, or "(none)". */
const char *world__name(struct world *world, uint64_t function);

#endif
