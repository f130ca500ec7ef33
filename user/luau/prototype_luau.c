/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/prototype_luau.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/line_table.h"

#include "walk/fingerprint_reader.h"
#include "walk/target_text.h"
#include "fingerprint_luau.h"

#define PROTO_MAX 264 /* an 8-byte field at a one-byte offset */

static int read_proto(const struct target_memory *memory, const struct ls_luau_layout *layout,
		      uint64_t address, uint8_t proto[PROTO_MAX])
{
	memset(proto, 0, PROTO_MAX);
	return target_memory__read(memory, address, proto, layout->proto_size);
}

int prototype_luau__check(const struct target_memory *memory, const struct ls_luau_layout *layout,
			  const struct prototype_key *key)
{
	struct ls_luau_content content = {};
	uint8_t proto[PROTO_MAX];
	int error = read_proto(memory, layout, key->address, proto);

	if (error)
		return error == -ESRCH ? error : -ESTALE;
	ls_luau_read_content(memory, layout, proto, &content);
	return ls_fold(ls_luau_fixed_fingerprint(layout, proto), content.hash) == key->fingerprint
		       ? 0
		       : -ESTALE;
}

static bool is_string(const struct target_memory *memory, const struct ls_luau_layout *layout,
		      uint8_t thread, uint64_t address)
{
	struct ls_luau_string string;

	return !target_memory__read(memory, address, &string, sizeof(string)) &&
	       string.tt == thread - layout->string_type;
}

bool prototype_luau__has_lines(const struct ls_luau_layout *layout, const uint8_t *proto)
{
	return ls_luau_has_lines(layout, proto);
}

bool prototype_luau__has_numbers(const struct ls_luau_layout *layout, const uint8_t *proto,
				 uint8_t upvalues)
{
	return ls_luau_has_numbers(layout, proto, upvalues);
}

bool prototype_luau__fits(const struct target_memory *memory, const struct ls_luau_layout *layout,
			  uint8_t thread, uint64_t address, uint8_t upvalues)
{
	uint8_t proto[PROTO_MAX];
	uint64_t name;

	if (address & 7 || read_proto(memory, layout, address, proto) || proto[0] <= thread ||
	    proto[0] >= LS_LUAU_TYPES_MAX)
		return false;
	name = ls_luau_word(proto, layout->proto_name);
	return ls_luau_word(proto, layout->proto_line_info) && ls_luau_has_lines(layout, proto) &&
	       ls_luau_has_numbers(layout, proto, upvalues) && proto[layout->proto_is_vararg + 1] &&
	       is_string(memory, layout, thread, ls_luau_word(proto, layout->proto_source)) &&
	       (!name || is_string(memory, layout, thread, name));
}

int prototype_luau__source(const struct target_memory *memory, const struct ls_luau_layout *layout,
			   uint64_t address, size_t most, char **text, size_t *length)
{
	struct ls_luau_string name;
	uint8_t proto[PROTO_MAX];
	uint64_t source;
	int error = read_proto(memory, layout, address, proto);

	*text = NULL;
	if (error)
		return error;
	source = ls_luau_word(proto, layout->proto_source);
	if (!source)
		return -ENOENT;
	error = target_memory__read(memory, source, &name, sizeof(name));
	if (error)
		return error;
	*length = name.length;
	return target_text__read(memory, source + sizeof(name), name.length, most, text);
}

int prototype_luau__code(const struct target_memory *memory, const struct ls_luau_layout *layout,
			 uint64_t address, uint64_t *code, uint32_t *count,
			 struct constants_luau *constants)
{
	struct ls_luau_string source;
	uint8_t proto[PROTO_MAX];
	int error = read_proto(memory, layout, address, proto);

	/* The name of the chunk is a string, so it tells the type of strings. */
	if (!error)
		error = target_memory__read(memory, ls_luau_word(proto, layout->proto_source),
					    &source, sizeof(source));
	if (error)
		return error;
	*code = ls_luau_word(proto, layout->proto_code);
	*count = ls_luau_half(proto, layout->proto_code_count);
	*constants = (struct constants_luau){
		.memory = memory,
		.address = ls_luau_word(proto, layout->proto_constants),
		.count = ls_luau_half(proto, layout->proto_constant_count),
		.string_type = source.tt,
	};
	return 0;
}

/* Copies the constant if it is a string and values have that size. */
static int read_constant(const struct constants_luau *constants, uint32_t index, size_t value_size,
			 char *to, size_t size)
{
	struct ls_luau_string string;
	uint8_t value[LS_LUAU_VALUE_MAX];
	uint64_t address = constants->address + index * value_size;
	uint32_t type;

	if (target_memory__read(constants->memory, address, value, value_size))
		return 0;
	memcpy(&type, value + ls_luau_type_at((uint32_t)value_size), sizeof(type));
	memcpy(&address, value, sizeof(address));
	if (type != constants->string_type ||
	    target_memory__read(constants->memory, address, &string, sizeof(string)) ||
	    string.tt != constants->string_type)
		return 0;
	if (string.length < size)
		size = string.length + 1UL;
	if (target_memory__read(constants->memory, address + sizeof(string), to, size))
		return 0;
	to[size - 1] = '\0';
	return strlen(to) == size - 1;
}

int constants_luau__string(const struct constants_luau *constants, uint32_t index, char *to,
			   size_t size)
{
	if (index >= constants->count)
		return -EINVAL;
	for (size_t value_size = 16; value_size <= LS_LUAU_VALUE_MAX; value_size += 8)
		if (read_constant(constants, index, value_size, to, size))
			return 1;
	return 0;
}

/* The two tables of a prototype, as luaG_getline() (ldebug.cpp) reads them. */
struct tables {
	uint32_t count; /* of instructions */
	uint32_t gap;
	uint8_t *differences;
	int32_t *bases;
};

static int read_tables(const struct target_memory *memory, uint64_t differences, uint64_t bases,
		       struct tables *tables)
{
	uint32_t intervals = ((tables->count - 1) >> tables->gap) + 1;
	int error;

	tables->differences = malloc(tables->count);
	tables->bases = malloc(intervals * sizeof(*tables->bases));
	if (!tables->differences || !tables->bases)
		return -ENOMEM;
	error = target_memory__read(memory, differences, tables->differences, tables->count);
	return error ? error
		     : target_memory__read(memory, bases, tables->bases,
					   intervals * sizeof(*tables->bases));
}

static int make_table(const struct tables *tables, struct line_table **table)
{
	int32_t *lines = malloc(tables->count * sizeof(*lines));
	int error;

	if (!lines)
		return -ENOMEM;
	for (uint32_t pc = 0; pc < tables->count; pc++)
		lines[pc] = (int32_t)((uint32_t)tables->bases[pc >> tables->gap] +
				      tables->differences[pc]);
	error = line_table__new(lines, tables->count, table);
	free(lines);
	return error;
}

int prototype_luau__lines(const struct target_memory *memory, const struct ls_luau_layout *layout,
			  uint64_t address, struct line_table **table)
{
	struct tables tables = {};
	uint8_t proto[PROTO_MAX];
	uint64_t differences, bases;
	int error = read_proto(memory, layout, address, proto);

	*table = NULL;
	if (error)
		return error;
	differences = ls_luau_word(proto, layout->proto_line_info);
	bases = ls_luau_word(proto, layout->proto_line_bases);
	if (!differences)
		return 0;
	tables.count = ls_luau_half(proto, layout->proto_code_count);
	tables.gap = ls_luau_half(proto, layout->proto_line_gap);
	if (!tables.count || tables.gap > LS_LUAU_LINE_GAP_MAX)
		return -EINVAL;
	if (tables.count > LINE_TABLE_INSTRUCTIONS_MAX)
		return -E2BIG;
	error = read_tables(memory, differences, bases, &tables);
	if (!error)
		error = make_table(&tables, table);
	free(tables.differences);
	free(tables.bases);
	return error;
}
