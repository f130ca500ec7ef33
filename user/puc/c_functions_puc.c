/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of the target may have millions of slots, of which no function is one: of the tables on
 * one level the small ones are read first, so that it takes the time of none but itself.
 */
#include "c_functions_puc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_puc.h"

#define SLOT_LIMIT   65536 /* a call */
#define NAME_LIMIT   65536 /* in all */
#define NAME_SIZE    128
#define RIDX_GLOBALS 2 /* lua.h, since 5.2 */
#define LIBRARY_SIZE 2 /* functions that a table has at least to be taken for one */
#define SANDBOXES    4 /* tables of globals, one behind the other */

/* Where a name comes from; of several for one function the smallest stays. */
enum rank {
	RANK_KNOWN, /* from an earlier call */
	RANK_LOADED,
	RANK_LIBRARY, /* a table among the globals, of nothing but C functions: "redis.call" */
	RANK_GLOBAL,
	RANK_METATABLE,
	RANK_REGISTRY, /* script functions that the program keeps by name: "f_<sha>" in Redis */
	RANK_OBSOLETE,
};

/* Names that 5.1 keeps for scripts of 5.0, shorter than those that scripts use. */
static const char *const obsolete_names[] = {"string.gfind", "math.mod"};

struct name {
	uint64_t function; /* of a script function: its prototype */
	uint64_t instance; /* the closure, if it has upvalues */
	enum rank rank;
	bool is_given; /* by the program or a module, not by a script */
	char *text;    /* NULL: ambiguous */
};

struct c_functions_puc {
	struct name *items; /* by address of the function; during a read, new ones at the end */
	size_t count, room;
};

struct table {
	char name[TABLE_PUC_KEY_SIZE];
	uint64_t address;
	size_t slots;
};

struct tables {
	struct table *items;
	size_t count, room;
};

/* One table on its way into names. */
struct reading {
	struct c_functions_puc *functions;
	struct table_puc_reader reader;
	enum rank rank;
	const char *prefix;    /* "string", "" for the globals */
	struct tables *tables; /* where to put tables; NULL: nowhere */
	bool met_script;       /* a script function was among them */
};

/* `items` with room for one more of `size` bytes; NULL: out of memory, `items` is as it was. */
static void *grow(void *items, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 64;

	if (count < *room)
		return items;
	items = reallocarray(items, more, size);
	if (items)
		*room = more;
	return items;
}

struct c_functions_puc *c_functions_puc__new(void)
{
	return calloc(1, sizeof(struct c_functions_puc));
}

void c_functions_puc__free(struct c_functions_puc *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->count; i++)
		free(functions->items[i].text);
	free(functions->items);
	free(functions);
}

static bool is_function(const struct table_puc_reader *reader, const struct table_puc_value *value)
{
	const struct ls_puc_layout *layout = reader->layout;

	return value->tag == layout->tag_c_function || value->tag == layout->tag_lua_function ||
	       (layout->tag_light_function && value->tag == layout->tag_light_function);
}

static bool is_function_or_table(const struct table_puc_reader *reader,
				 const struct table_puc_value *value)
{
	return is_function(reader, value) || table_puc__is_table(reader, value);
}

/*
 * What coroutine.wrap() returns is a C closure over a coroutine. A script that keeps one in a
 * global has named that coroutine, not the C function behind all of them.
 */
static bool wraps_coroutine(const struct table_puc_reader *reader, uint64_t closure)
{
	const int thread = 8; /* LUA_TTHREAD, lua.h */
	uint64_t first = closure + reader->layout->closure_function + 8;
	uint8_t upvalue[16];

	return !target_memory__read(reader->memory, first, upvalue, sizeof(upvalue)) &&
	       (upvalue[8] & 15) == thread;
}

/* The address of the C function in `value`; 0: it is a Lua function, or cannot be read. */
static uint64_t function_address(const struct table_puc_reader *reader,
				 const struct table_puc_value *value, uint64_t *instance)
{
	const struct ls_puc_layout *layout = reader->layout;
	/* isC, where there is one, stands before nupvalues. */
	size_t upvalues = layout->closure_is_c ? layout->closure_is_c + 1 : 10;
	uint8_t header[16];
	uint64_t function;

	*instance = 0;
	if (layout->tag_light_function && value->tag == layout->tag_light_function)
		return value->value;
	if (value->tag != layout->tag_c_function)
		return 0;
	if (upvalues >= sizeof(header) ||
	    target_memory__read(reader->memory, value->value, header, sizeof(header)) ||
	    (layout->closure_is_c && !header[layout->closure_is_c]) ||
	    target_memory__read(reader->memory, value->value + layout->closure_function, &function,
				sizeof(function)))
		return 0;
	if (!header[upvalues])
		return function;
	*instance = value->value;
	return wraps_coroutine(reader, value->value) ? 0 : function;
}

/* The address of the prototype of the script function in `value`; 0: it is a C function. */
static uint64_t prototype_address(const struct table_puc_reader *reader,
				  const struct table_puc_value *value)
{
	const struct ls_puc_layout *layout = reader->layout;
	uint8_t header[16];
	uint64_t prototype;

	if (value->tag != layout->tag_lua_function ||
	    target_memory__read(reader->memory, value->value, header, sizeof(header)) ||
	    (layout->closure_is_c && header[layout->closure_is_c]) ||
	    target_memory__read(reader->memory, value->value + layout->closure_proto, &prototype,
				sizeof(prototype)))
		return 0;
	return prototype;
}

static int add_name(struct c_functions_puc *functions, const struct name *name)
{
	struct name *item;

	if (functions->count >= NAME_LIMIT)
		return -E2BIG;
	item = grow(functions->items, functions->count, &functions->room, sizeof(*item));
	if (!item)
		return -ENOMEM;
	functions->items = item;
	item = &functions->items[functions->count];
	*item = *name;
	item->text = strdup(name->text);
	if (!item->text)
		return -ENOMEM;
	functions->count++;
	return 0;
}

static int add_table(struct reading *reading, const char *key, uint64_t address)
{
	struct tables *tables = reading->tables;
	struct table *table;

	table = grow(tables->items, tables->count, &tables->room, sizeof(*table));
	if (!table)
		return -ENOMEM;
	tables->items = table;
	table = &tables->items[tables->count];
	if (table_puc__slots(&reading->reader, address, &table->slots))
		return 0;
	table->address = address;
	snprintf(table->name, sizeof(table->name), "%s", key);
	tables->count++;
	return 0;
}

/* "string.format"; of a metatable "FILE*.__gc" and "FILE*:read". */
static int visit(void *context, const char *key, const struct table_puc_value *value)
{
	struct reading *reading = context;
	bool is_method = reading->rank == RANK_METATABLE && strncmp(key, "__", 2) != 0;
	char text[2 * TABLE_PUC_KEY_SIZE];
	struct name name = {
		.rank = reading->rank, .is_given = reading->rank != RANK_GLOBAL, .text = text};
	int error;

	if (table_puc__is_table(&reading->reader, value))
		return reading->tables ? add_table(reading, key, value->value) : 0;
	name.function = function_address(&reading->reader, value, &name.instance);
	if (name.function && reading->rank == RANK_REGISTRY)
		return 0;
	if (!name.function) {
		name.function = prototype_address(&reading->reader, value);
		name.instance = value->value;
		reading->met_script = true;
	}
	if (!name.function)
		return 0;
	if (*reading->prefix)
		snprintf(text, sizeof(text), "%s%c%s", reading->prefix, is_method ? ':' : '.', key);
	else
		snprintf(text, sizeof(text), "%s", key);
	text[NAME_SIZE - 1] = '\0';
	for (size_t i = 0; i < sizeof(obsolete_names) / sizeof(obsolete_names[0]); i++)
		if (strcmp(text, obsolete_names[i]) == 0)
			name.rank = RANK_OBSOLETE;
	error = add_name(reading->functions, &name);
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

/* What a table holds besides, a table that is gone or too large, is no reason not to go on. */
static int read_table(struct reading *reading, uint64_t table, const char *prefix,
		      struct tables *tables)
{
	int error;

	reading->prefix = prefix;
	reading->tables = tables;
	error = table_puc__each(&reading->reader, table,
				tables ? is_function_or_table : is_function, visit, reading);
	return is_fatal(error) ? error : 0;
}

static void sort_tables(struct tables *tables)
{
	if (tables->count)
		qsort(tables->items, tables->count, sizeof(*tables->items), compare_tables);
}

/* What no script has put functions into, no script has named. */
static void promote_library(struct reading *reading, size_t first)
{
	struct c_functions_puc *functions = reading->functions;

	if (reading->rank != RANK_GLOBAL || reading->met_script ||
	    functions->count - first < LIBRARY_SIZE)
		return;
	for (size_t i = first; i < functions->count; i++) {
		functions->items[i].rank = RANK_LIBRARY;
		functions->items[i].is_given = true;
	}
}

/* Functions in `table` and in the tables in it. */
static int read_two_levels(struct reading *reading, uint64_t table, enum rank rank)
{
	struct tables tables = {0};
	int error;

	reading->rank = rank;
	error = read_table(reading, table, "", &tables);
	sort_tables(&tables);
	for (size_t i = 0; i < tables.count && !error; i++) {
		const char *prefix = tables.items[i].name;
		size_t first = reading->functions->count;

		if (tables.items[i].address == table)
			continue;
		reading->met_script = false;
		error = read_table(reading, tables.items[i].address,
				   strcmp(prefix, "_G") == 0 ? "" : prefix, NULL);
		promote_library(reading, first);
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

static int visit_index(void *context, const char *key, const struct table_puc_value *value)
{
	if (strcmp(key, "__index") == 0)
		*(uint64_t *)context = value->value;
	return 0;
}

/* Where indexing `table` goes on, by its metatable; 0: nowhere, or not to a table. */
static uint64_t table_behind(struct reading *reading, uint64_t table)
{
	uint64_t metatable, behind = 0;

	if (!table_puc__metatable(&reading->reader, table, &metatable) && metatable)
		table_puc__each(&reading->reader, metatable, table_puc__is_table, visit_index,
				&behind);
	return behind;
}

/* A sandbox is an empty table before the true globals: Redis runs its libraries in one. */
static int read_globals(struct reading *reading, uint64_t globals)
{
	int error = 0;

	for (int i = 0; i < SANDBOXES && globals && !error; i++) {
		error = read_two_levels(reading, globals, RANK_GLOBAL);
		globals = table_behind(reading, globals);
	}
	return error;
}

/* lua_pushglobaltable(), which is independent of what package.loaded says. */
static int find_globals(const struct reading *reading, uint64_t state, uint64_t registry,
			struct table_puc_value *globals)
{
	const struct ls_puc_layout *layout = reading->reader.layout;

	if (layout->state_globals)
		return table_puc__read_value(&reading->reader, state + layout->state_globals,
					     globals);
	return table_puc__element(&reading->reader, registry, RIDX_GLOBALS, globals);
}

static int find_registry(const struct table_puc_reader *reader, uint64_t state, uint64_t *registry)
{
	const struct ls_puc_layout *layout = reader->layout;
	struct table_puc_value value;
	uint64_t global;
	int error = target_memory__read(reader->memory, state + layout->state_global, &global,
					sizeof(global));

	if (!error)
		error = table_puc__read_value(reader, global + layout->global_registry, &value);
	if (!error && !table_puc__is_table(reader, &value))
		error = -EFAULT;
	*registry = error ? 0 : value.value;
	return error;
}

static int read_all(struct reading *reading, uint64_t state)
{
	static const char loaded[] = "_LOADED", preload[] = "_PRELOAD";
	struct tables tables = {0};
	struct table_puc_value globals;
	uint64_t registry;
	int error = find_registry(&reading->reader, state, &registry);

	if (error)
		return error;
	table_puc__adapt(&reading->reader, registry);
	reading->tables = &tables;
	reading->rank = RANK_REGISTRY;
	reading->prefix = "";
	error = table_puc__each(&reading->reader, registry, is_function_or_table, visit, reading);
	if (error == -E2BIG)
		error = 0; /* the globals need no registry */
	sort_tables(&tables);
	for (size_t i = 0; i < tables.count && !error; i++)
		if (strcmp(tables.items[i].name, loaded) == 0)
			error = read_two_levels(reading, tables.items[i].address, RANK_LOADED);
	if (!error && !find_globals(reading, state, registry, &globals) &&
	    table_puc__is_table(&reading->reader, &globals))
		error = read_globals(reading, globals.value);
	reading->rank = RANK_METATABLE;
	for (size_t i = 0; i < tables.count && !error; i++)
		if (strcmp(tables.items[i].name, loaded) != 0 &&
		    strcmp(tables.items[i].name, preload) != 0)
			error = read_metatable(reading, &tables.items[i]);
	free(tables.items);
	return error;
}

static int compare_names(const void *left, const void *right)
{
	const struct name *a = left, *b = right;
	size_t length_a, length_b;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	length_a = strlen(a->text);
	length_b = strlen(b->text);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* "format" of "string.format" */
static const char *last_part(const char *text)
{
	const char *last = text;

	for (const char *at = text; *at; at++)
		if (*at == '.' || *at == ':')
			last = at + 1;
	return last;
}

/*
 * One C function behind several closures with upvalues and names that differ is a trampoline of a
 * binding library: to give it the name of one of them would mislead.
 */
static bool is_ambiguous(const struct name *best, const struct name *other)
{
	return best->instance && other->instance && best->instance != other->instance &&
	       strcmp(last_part(best->text), last_part(other->text)) != 0;
}

/* One C function in the metatables of several types belongs to none: "__index", not "Dir.__index".
 */
static bool is_shared(const struct name *best, const struct name *other)
{
	return best->rank == RANK_METATABLE && other->rank == RANK_METATABLE &&
	       strcmp(best->text, other->text) != 0 &&
	       strcmp(last_part(best->text), last_part(other->text)) == 0;
}

/* Leaves the best name of each function. */
static void merge_names(struct c_functions_puc *functions)
{
	struct name *items = functions->items;
	size_t kept = 0, end;

	if (functions->count)
		qsort(items, functions->count, sizeof(*items), compare_names);
	for (size_t i = 0; i < functions->count; i = end) {
		struct name best = items[i];
		bool ambiguous = false, shared = false;

		for (end = i + 1; end < functions->count && items[end].function == best.function;
		     end++) {
			if (best.rank != RANK_KNOWN && is_ambiguous(&best, &items[end]))
				ambiguous = true;
			shared |= is_shared(&best, &items[end]);
			free(items[end].text);
		}
		if (shared) {
			const char *last = last_part(best.text);

			memmove(best.text, last, strlen(last) + 1);
			best.is_given = false;
		}
		if (ambiguous) {
			free(best.text);
			best.text = NULL;
		}
		best.rank = RANK_KNOWN;
		items[kept++] = best;
	}
	functions->count = kept;
}

int c_functions_puc__read(struct c_functions_puc *functions, const struct target_memory *memory,
			  const struct ls_puc_layout *layout, uint64_t state)
{
	struct reading reading = {.functions = functions};
	int error = table_puc__start(&reading.reader, memory, layout, SLOT_LIMIT);

	if (!error)
		error = read_all(&reading, state);
	merge_names(functions);
	if (error)
		return error;
	return reading.reader.cut_short ? -E2BIG : 0;
}

static int compare_to_address(const void *key, const void *item)
{
	uint64_t address = *(const uint64_t *)key;
	const struct name *name = item;

	return (address > name->function) - (address < name->function);
}

static const struct name *find_name(const struct c_functions_puc *functions, uint64_t function)
{
	return functions->count ? bsearch(&function, functions->items, functions->count,
					  sizeof(*functions->items), compare_to_address)
				: NULL;
}

const char *c_functions_puc__name(const struct c_functions_puc *functions, uint64_t function)
{
	const struct name *found = find_name(functions, function);

	return found ? found->text : NULL;
}

bool c_functions_puc__is_given(const struct c_functions_puc *functions, uint64_t function)
{
	const struct name *found = find_name(functions, function);

	return found && found->text && found->is_given;
}
