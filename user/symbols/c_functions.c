/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbols/c_functions.h"

/*
 * A table of the target may have millions of slots, and no function in them. Of the tables on one
 * level, the small ones are read first, so that a huge one takes up no other's share of SLOT_LIMIT.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_LIMIT   65536 /* per call of c_functions__read() */
#define LIBRARY_SIZE 2     /* functions that a table must have to count as a library */
#define SANDBOXES    4     /* tables of globals to read, each in __index of the one before */

/* Names that Lua 5.1 keeps for scripts of 5.0; they are shorter than the current ones. */
static const char *const obsolete_names[] = {"string.gfind", "math.mod"};

struct table {
	char name[TABLE_KEY_SIZE];
	uint64_t address;
	size_t slots;
};

struct tables {
	struct table *items;
	size_t count, room;
};

/* The state of reading one table. */
struct reading {
	struct c_function_names *names;
	struct table_reader reader;
	enum name_rank rank;
	const char *prefix;    /* "string", "" for the globals */
	struct tables *tables; /* collects the tables in it; NULL: they are ignored */
	bool met_script;       /* the table contains a script function */
	bool is_of_events;     /* only script functions count that are called by an operation */
};

static bool is_function(const struct table_reader *reader, const struct table_value *value)
{
	return reader->ops->kind(reader, value) == VALUE_FUNCTION;
}

static bool is_table(const struct table_reader *reader, const struct table_value *value)
{
	return reader->ops->kind(reader, value) == VALUE_TABLE;
}

static bool is_function_or_table(const struct table_reader *reader, const struct table_value *value)
{
	return reader->ops->kind(reader, value) != VALUE_OTHER;
}

static int add_table(struct reading *reading, const char *key, uint64_t address)
{
	struct tables *tables = reading->tables;
	struct table *table;

	if (tables->count == tables->room) {
		size_t room = tables->room ? 2 * tables->room : 64;

		table = reallocarray(tables->items, room, sizeof(*table));
		if (!table)
			return -ENOMEM;
		tables->items = table;
		tables->room = room;
	}
	table = &tables->items[tables->count];
	if (reading->reader.ops->slots(&reading->reader, address, &table->slots))
		return 0;
	table->address = address;
	snprintf(table->name, sizeof(table->name), "%s", key);
	tables->count++;
	return 0;
}

/* "string.format"; of a metatable "FILE*.__gc" and "FILE*:read". */
static int visit(void *context, const char *key, const struct table_value *value)
{
	struct reading *reading = context;
	bool is_method = reading->rank == RANK_METATABLE && strncmp(key, "__", 2) != 0;
	char text[2 * TABLE_KEY_SIZE];
	struct function_name name = {
		.rank = reading->rank, .is_given = reading->rank != RANK_GLOBAL, .text = text};
	int error;

	if (is_table(&reading->reader, value))
		return reading->tables ? add_table(reading, key, value->value) : 0;
	if (reading->is_of_events && strncmp(key, "__", 2) != 0)
		return 0;
	name.function = reading->reader.ops->c_function(&reading->reader, value, &name.instance);
	if (name.function && (reading->rank == RANK_REGISTRY || reading->is_of_events))
		return 0;
	if (!name.function) {
		name.function = reading->reader.ops->prototype(&reading->reader, value);
		name.instance = value->value;
		reading->met_script = true;
	}
	if (!name.function)
		return 0;
	if (*reading->prefix)
		snprintf(text, sizeof(text), "%s%c%s", reading->prefix, is_method ? ':' : '.', key);
	else
		snprintf(text, sizeof(text), "%s", key);
	text[C_FUNCTION_NAME_SIZE - 1] = '\0';
	for (size_t i = 0; i < sizeof(obsolete_names) / sizeof(obsolete_names[0]); i++)
		if (strcmp(text, obsolete_names[i]) == 0)
			name.rank = RANK_OBSOLETE;
	error = c_function_names__add(reading->names, &name);
	if (error == -E2BIG)
		reading->reader.cut_short = true;
	return error;
}

static int compare_tables(const void *left, const void *right)
{
	const struct table *a = left, *b = right;

	if (a->slots != b->slots)
		return a->slots < b->slots ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_fatal(int error)
{
	return error == -ENOMEM || error == -ESRCH;
}

/* Reads one table. Skips a table that is gone or too large, and ignores other values in a table. */
static int read_table(struct reading *reading, uint64_t table, const char *prefix,
		      struct tables *tables)
{
	int error;

	reading->prefix = prefix;
	reading->tables = tables;
	error = reading->reader.ops->each(&reading->reader, table,
					  tables ? is_function_or_table : is_function, visit,
					  reading);
	return is_fatal(error) ? error : 0;
}

static void sort_tables(struct tables *tables)
{
	if (tables->count)
		qsort(tables->items, tables->count, sizeof(*tables->items), compare_tables);
}

/* A table without script functions is taken for a library: no script has named what is in it. */
static void promote_library(struct reading *reading, size_t first)
{
	struct c_function_names *names = reading->names;

	if (reading->rank != RANK_GLOBAL || reading->met_script ||
	    names->count - first < LIBRARY_SIZE)
		return;
	for (size_t i = first; i < names->count; i++) {
		names->items[i].rank = RANK_LIBRARY;
		names->items[i].is_given = true;
	}
}

/*
 * Reads the events in the metatable of a table: "Account.__call". A method in it is one of a class
 * that has another name.
 */
static int read_events(struct reading *reading, uint64_t table, const char *name)
{
	enum name_rank rank = reading->rank;
	uint64_t metatable;
	int error;

	if (reading->reader.ops->metatable(&reading->reader, table, &metatable) || !metatable ||
	    metatable == table)
		return 0;
	reading->rank = RANK_METATABLE;
	reading->is_of_events = true;
	error = read_table(reading, metatable, name, NULL);
	reading->is_of_events = false;
	reading->rank = rank;
	return error;
}

/* Reads the functions in `table` and in the tables in it. */
static int read_two_levels(struct reading *reading, uint64_t table, enum name_rank rank)
{
	struct tables tables = {0};
	int error;

	reading->rank = rank;
	error = read_table(reading, table, "", &tables);
	sort_tables(&tables);
	for (size_t i = 0; i < tables.count && !error; i++) {
		const char *prefix = tables.items[i].name;
		size_t first = reading->names->count;

		if (tables.items[i].address == table)
			continue;
		reading->met_script = false;
		error = read_table(reading, tables.items[i].address,
				   strcmp(prefix, "_G") == 0 ? "" : prefix, NULL);
		promote_library(reading, first);
		if (!error)
			error = read_events(reading, tables.items[i].address, prefix);
	}
	free(tables.items);
	return error;
}

static int read_metatable(struct reading *reading, const struct table *metatable)
{
	struct tables tables = {0};
	int error = read_table(reading, metatable->address, metatable->name, &tables);

	for (size_t i = 0; i < tables.count && !error; i++)
		if (strcmp(tables.items[i].name, "__index") == 0 &&
		    tables.items[i].address != metatable->address)
			error = read_table(reading, tables.items[i].address, metatable->name, NULL);
	free(tables.items);
	return error;
}

static int visit_index(void *context, const char *key, const struct table_value *value)
{
	if (strcmp(key, "__index") == 0)
		*(uint64_t *)context = value->value;
	return 0;
}

/* The table in __index of the metatable of `table`; 0: there is none, or it is no table. */
static uint64_t table_behind(struct reading *reading, uint64_t table)
{
	uint64_t metatable, behind = 0;

	const struct table_ops *ops = reading->reader.ops;

	if (!ops->metatable(&reading->reader, table, &metatable) && metatable)
		ops->each(&reading->reader, metatable, is_table, visit_index, &behind);
	return behind;
}

/* A sandbox is an empty table in front of the real globals: Redis runs its libraries in one. */
static int read_globals(struct reading *reading, uint64_t globals)
{
	int error = 0;

	for (int i = 0; i < SANDBOXES && globals && !error; i++) {
		error = read_two_levels(reading, globals, RANK_GLOBAL);
		globals = table_behind(reading, globals);
	}
	return error;
}

static int read_all(struct reading *reading, uint64_t state)
{
	static const char loaded[] = "_LOADED", preload[] = "_PRELOAD";
	struct tables tables = {0};
	struct vm_roots roots = {};
	int error = reading->reader.ops->open(&reading->reader, state, &roots);

	if (error)
		return error;
	reading->tables = &tables;
	reading->rank = RANK_REGISTRY;
	reading->prefix = "";
	error = reading->reader.ops->each(&reading->reader, roots.registry, is_function_or_table,
					  visit, reading);
	if (error == -E2BIG)
		error = 0; /* the globals can still be read */
	sort_tables(&tables);
	for (size_t i = 0; i < tables.count && !error; i++)
		if (strcmp(tables.items[i].name, loaded) == 0)
			error = read_two_levels(reading, tables.items[i].address, RANK_LOADED);
	if (!error)
		error = read_globals(reading, roots.globals);
	reading->rank = RANK_METATABLE;
	for (size_t i = 0; i < tables.count && !error; i++)
		if (strcmp(tables.items[i].name, loaded) != 0 &&
		    strcmp(tables.items[i].name, preload) != 0)
			error = read_metatable(reading, &tables.items[i]);
	free(tables.items);
	return error;
}

int c_functions__read(struct c_function_names *names, const struct table_ops *ops,
		      const struct target_memory *memory, const void *offsets, uint64_t state)
{
	struct reading reading = {
		.names = names,
		.reader = {.ops = ops,
			   .memory = memory,
			   .offsets = offsets,
			   .slots_left = SLOT_LIMIT},
	};
	int error = read_all(&reading, state);

	c_function_names__merge(names);
	if (error)
		return error;
	return reading.reader.cut_short ? -E2BIG : 0;
}
