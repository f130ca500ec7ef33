/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/definition_puc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/definition_name.h"

#include "puc/definition_scan_puc.h"
#include "puc/line_table_puc.h"
#include "puc/prototype_puc.h"

/* Instructions of one prototype: main chunks of 20,000 lines have fewer. */
#define CODE_MOST (1U << 17)

/* Fields of fields, and tables in tables. */
#define DEPTH_MAX 32

#define PROTO_5_1_PARAMETERS 113 /* numparams, lobject.h */

struct reading {
	struct proto_puc proto;
	struct definition_scan scan;
	struct line_table *lines; /* read once they are needed */
	uint64_t address;
};

struct path {
	char text[DEFINITION_NAME_SIZE];
	size_t length;
};

/* ---- paths: -ENOENT where a value has no name */

static int append(struct path *path, const char *text)
{
	size_t length = strlen(text);

	if (length >= sizeof(path->text) - path->length)
		return -ENOENT;
	memcpy(path->text + path->length, text, length + 1);
	path->length += length;
	return 0;
}

/* Converts the result of a proto_puc__ function, whose names are cut off at that size. */
static int check_name(int found, const char *name)
{
	if (found <= 0)
		return found ? found : -ENOENT;
	return strlen(name) < PROTO_PUC_NAME_SIZE - 1 ? 0 : -ENOENT;
}

/* Variables of the compiler's own are no identifiers: "(for state)"; nor are unknown ones: "?". */
static int append_variable(struct path *path, int found, const char *name)
{
	int error = check_name(found, name);

	if (!error && !definition_name__is_identifier(name, strlen(name)))
		error = -ENOENT;
	return error ? error : append(path, name);
}

static int append_node(struct reading *reading, uint32_t index, int depth, struct path *path);

static int append_text_key(struct path *path, const char *key)
{
	bool is_identifier = definition_name__is_identifier(key, strlen(key));
	int error;

	if (is_identifier) {
		error = path->length ? append(path, ".") : 0;
		return error ? error : append(path, key);
	}
	if (!path->length || !definition_name__is_printable(key, strlen(key)))
		return -ENOENT;
	error = append(path, "[\"");
	if (!error)
		error = append(path, key);
	return error ? error : append(path, "\"]");
}

/* "[i]": the key is what a variable holds. */
static int append_variable_key(struct reading *reading, uint32_t index, int depth,
			       struct path *path)
{
	struct path key = {};
	int error = append_node(reading, index, depth, &key);

	if (!error && (!path->length || !definition_name__is_identifier(key.text, key.length)))
		error = -ENOENT;
	if (!error)
		error = append(path, "[");
	if (!error)
		error = append(path, key.text);
	return error ? error : append(path, "]");
}

/* Fields of _ENV are globals, which have names of their own. */
static bool is_environment(const struct definition_node *table, const struct path *path)
{
	return (table->kind == NODE_LOCAL || table->kind == NODE_UPVALUE) &&
	       !strcmp(path->text, "_ENV");
}

static int append_field(struct reading *reading, const struct definition_node *field, int depth,
			struct path *path)
{
	const struct definition_node *nodes = reading->scan.nodes;
	const struct definition_node *key = &nodes[field->key];
	char name[PROTO_PUC_NAME_SIZE];
	int error = append_node(reading, field->around, depth, path);

	if (error)
		return error;
	if (is_environment(&nodes[field->around], path))
		*path = (struct path){};
	if (key->kind != NODE_CONSTANT)
		return append_variable_key(reading, field->key, depth, path);
	error = check_name(proto_puc__constant(&reading->proto, key->index, name), name);
	return error ? error : append_text_key(path, name);
}

static int append_node(struct reading *reading, uint32_t index, int depth, struct path *path)
{
	const struct definition_node *node = &reading->scan.nodes[index];
	struct proto_puc *proto = &reading->proto;
	char name[PROTO_PUC_NAME_SIZE] = "";
	int found;

	if (depth == DEPTH_MAX)
		return -ENOENT;
	switch (node->kind) {
	case NODE_UNKNOWN:
	case NODE_CONSTANT:
		return -ENOENT;
	case NODE_NAMELESS:
		return 0;
	case NODE_LOCAL:
		found = proto_puc__local_name(proto, &reading->scan.locals[node->index],
					      node->index, name);
		return append_variable(path, found, name);
	case NODE_UPVALUE:
		found = proto_puc__upvalue(proto, node->index, name);
		return append_variable(path, found, name);
	case NODE_GLOBAL:
		found = proto_puc__constant(proto, node->index, name);
		return append_variable(path, found, name);
	case NODE_FIELD:
		return append_field(reading, node, depth + 1, path);
	case NODE_TABLE:
	case NODE_FUNCTION:
		return append_node(reading, node->around, depth + 1, path);
	}
	return -ENOENT;
}

/* ---- methods */

/*
 * Whether the first parameter of the prototype is called "self": 1 or 0; -errno. In 5.1, a variable
 * without a value may begin at the first instruction, too, and parameters of empty functions end
 * there.
 */
static int takes_self(const struct reading *reading, uint64_t address)
{
	const struct proto_puc *parent = &reading->proto;
	const struct ls_puc_layout *layout = parent->layout;
	char name[PROTO_PUC_NAME_SIZE] = "";
	struct local_var_puc first = {};
	struct proto_puc proto;
	uint8_t parameters = 1;
	int found = proto_puc__open(&proto, parent->memory, layout, address, 0);

	if (!found && layout->minor == 1)
		found = target_memory__read(parent->memory, address + PROTO_5_1_PARAMETERS,
					    &parameters, sizeof(parameters));
	if (!found && parameters && proto.local_count)
		found = target_memory__read(parent->memory, proto.locals, &first, sizeof(first));
	if (!found && first.name && first.start_pc == 0)
		found = proto_puc__local_name(&proto, &first, 0, name);
	proto_puc__close(&proto);
	return found > 0 ? !strcmp(name, "self") : found;
}

/*
 * "function M:f()" is stored in the line where it begins (lparser.c, funcstat), "M.f = function" in
 * the line where it ends. 1 or 0: which of the two; -ENOENT: all is one line; other -errno.
 */
static int is_statement(struct reading *reading, uint64_t address, uint32_t pc)
{
	const struct proto_puc *parent = &reading->proto;
	uint32_t first, last;
	int error =
		target_memory__read(parent->memory, address + parent->layout->proto_line_defined,
				    &first, sizeof(first));

	if (!error)
		error = target_memory__read(parent->memory,
					    address + parent->layout->proto_last_line_defined,
					    &last, sizeof(last));
	if (!error && !reading->lines)
		error = line_table_puc__read(parent->memory, parent->layout, reading->address,
					     &reading->lines);
	if (error)
		return error;
	return first == last ? -ENOENT : line_table__line(reading->lines, pc) == first;
}

/* Makes a colon of the last dot of a method's name. */
static int mark_method(struct reading *reading, uint64_t address, uint32_t pc, struct path *path)
{
	char *dot = strrchr(path->text, '.');
	int is_method;

	if (!dot || path->text[path->length - 1] == ']')
		return 0;
	is_method = takes_self(reading, address);
	if (is_method > 0)
		is_method = is_statement(reading, address, pc);
	if (is_method > 0)
		*dot = ':';
	return is_method < 0 ? is_method : 0;
}

/* ---- functions */

/* Writes the name of the nested prototype at this address; -ENOENT: it has none. */
static int name_function(struct reading *reading, uint32_t index, uint64_t address,
			 struct path *path)
{
	const struct definition_node *nodes = reading->scan.nodes;
	const struct definition_node *function = &nodes[reading->scan.functions[index]];
	const struct definition_node *target = &nodes[function->around];
	int error;

	if (function->kind != NODE_FUNCTION)
		return -ENOENT;
	error = append_node(reading, function->around, 0, path);
	if (!error && !path->length)
		error = -ENOENT;
	if (error || target->kind != NODE_FIELD || nodes[target->around].kind == NODE_TABLE)
		return error;
	return mark_method(reading, address, function->pc, path);
}

/* What cannot be read or makes no sense has no name; the others may have one. */
static void add_function(struct reading *reading, uint32_t index, uint64_t address,
			 struct nested_definitions *found)
{
	const struct proto_puc *proto = &reading->proto;
	struct nested_definition *item = &found->items[found->count];
	struct path path = {};

	if (name_function(reading, index, address, &path))
		return;
	item->address = address;
	if (prototype_puc__fingerprint(proto->memory, proto->layout, address, &item->fingerprint))
		return;
	memcpy(item->name, path.text, sizeof(item->name));
	found->count++;
}

static int add_functions(struct reading *reading, struct nested_definitions *found)
{
	uint32_t count = reading->proto.nested_count;
	uint64_t *nested = calloc(count, sizeof(*nested));
	int error = -ENOMEM;

	found->items = calloc(count, sizeof(*found->items));
	if (!nested || !found->items)
		goto cleanup;
	error = proto_puc__nested(&reading->proto, nested);
	for (uint32_t i = 0; i < count && !error; i++)
		add_function(reading, i, nested[i], found);
	found->is_covered = !reading->proto.is_beyond_fingerprint;
cleanup:
	free(nested);
	return error;
}

/* Most prototypes have none, and need not be read any further. */
static int count_nested(const struct target_memory *memory, const struct ls_puc_layout *layout,
			uint64_t parent, uint32_t *count)
{
	int error = target_memory__read(memory, parent + layout->proto_nested_count, count,
					sizeof(*count));

	return !error && *count > NESTED_DEFINITIONS_MAX ? -E2BIG : error;
}

int definition_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t parent, struct nested_definitions *found)
{
	const struct bytecode_puc *bytecode = bytecode_puc__of(layout->minor);
	struct reading reading = {.address = parent};
	struct proto_puc *proto = &reading.proto;
	uint32_t count = 0;
	int error;

	*found = (struct nested_definitions){};
	error = bytecode ? count_nested(memory, layout, parent, &count) : -EINVAL;
	if (error || !count)
		return error;
	error = proto_puc__open_whole(proto, memory, layout, parent, CODE_MOST);
	if (!error && proto->nested_count != count)
		error = -EINVAL;
	if (error || proto->is_stripped)
		goto cleanup;
	error = definition_scan__run(&reading.scan, proto, bytecode);
	if (!error)
		error = add_functions(&reading, found);
cleanup:
	definition_scan__close(&reading.scan);
	line_table__free(reading.lines);
	proto_puc__close(proto);
	return error;
}
