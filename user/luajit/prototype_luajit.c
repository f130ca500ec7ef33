/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/prototype_luajit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/line_table.h"

#include "walk/fingerprint_reader.h"
#include "walk/target_text.h"
#include "fingerprint_luajit.h"

int prototype_luajit__read(const struct target_memory *memory, uint64_t address,
			   struct ls_luajit_proto *proto)
{
	int error = target_memory__read(memory, address, proto, sizeof(*proto));

	if (error)
		return error;
	return proto->gct == LS_LUAJIT_PROTO ? 0 : -EINVAL;
}

int prototype_luajit__check(const struct target_memory *memory,
			    const struct ls_luajit_layout *layout, const struct prototype_key *key)
{
	struct ls_luajit_content content = {};
	struct ls_luajit_proto proto;
	int error = prototype_luajit__read(memory, key->address, &proto);

	if (error)
		return error == -ESRCH ? error : -ESTALE;
	content.string_text = layout->string_text;
	content.op_iterc = layout->op_iterc;
	ls_luajit_read_content(memory, &proto, key->address, &content);
	return ls_fold(ls_luajit_fixed_fingerprint(&proto), content.hash) == key->fingerprint
		       ? 0
		       : -ESTALE;
}

int prototype_luajit__string(const struct target_memory *memory,
			     const struct ls_luajit_layout *layout, uint64_t address,
			     uint32_t *length, uint64_t *text)
{
	struct ls_luajit_header header;
	int error = target_memory__read(memory, address, &header, sizeof(header));

	if (!error && header.gct != LS_LUAJIT_STRING)
		error = -EINVAL;
	*text = address + layout->string_text;
	return error ? error
		     : target_memory__read(memory, address + layout->string_length, length,
					   sizeof(*length));
}

int prototype_luajit__source(const struct target_memory *memory,
			     const struct ls_luajit_layout *layout, uint64_t address, size_t most,
			     char **text, size_t *length)
{
	struct ls_luajit_proto proto;
	uint32_t name_length = 0;
	uint64_t name = 0;
	int error = prototype_luajit__read(memory, address, &proto);

	*text = NULL;
	if (!error)
		error = prototype_luajit__string(memory, layout, proto.chunk_name, &name_length,
						 &name);
	if (error)
		return error;
	*length = name_length;
	return target_text__read(memory, name, name_length, most, text);
}

bool prototype_luajit__covers(uint32_t pc, uint32_t index)
{
	return pc < LS_LUAJIT_CODE_MAX && index < LS_LUAJIT_STRINGS_MAX;
}

/* Bytes of a line difference: lj_debug_line(), lj_debug.c. */
static uint32_t width_of(const struct ls_luajit_proto *proto)
{
	if (proto->line_count < 256)
		return 1;
	return proto->line_count < 65536 ? 2 : 4;
}

/* Sets the line of each instruction; the first one, the function's header, has first_line. */
static int add_lines(const struct ls_luajit_proto *proto, const uint8_t *differences,
		     int32_t *lines)
{
	uint32_t width = width_of(proto);

	lines[0] = (int32_t)proto->first_line;
	for (uint32_t pc = 1; pc < proto->code_count; pc++) {
		uint32_t difference = 0;

		memcpy(&difference, differences + (size_t)(pc - 1) * width, width);
		if (difference > proto->line_count)
			return -EINVAL;
		lines[pc] = (int32_t)(proto->first_line + difference);
	}
	return 0;
}

int prototype_luajit__lines(const struct target_memory *memory, uint64_t address,
			    struct line_table **table)
{
	struct ls_luajit_proto proto;
	uint8_t *differences = NULL;
	int32_t *lines = NULL;
	int error = prototype_luajit__read(memory, address, &proto);

	*table = NULL;
	if (error || !proto.line_info)
		return error;
	if (!proto.code_count || proto.first_line > INT32_MAX || proto.line_count > INT32_MAX)
		return -EINVAL;
	if (proto.code_count > LINE_TABLE_INSTRUCTIONS_MAX)
		return -E2BIG;
	differences = malloc((size_t)proto.code_count * width_of(&proto));
	lines = malloc(proto.code_count * sizeof(*lines));
	error = differences && lines ? 0 : -ENOMEM;
	if (!error && proto.code_count > 1)
		error = target_memory__read(memory, proto.line_info, differences,
					    (size_t)(proto.code_count - 1) * width_of(&proto));
	if (!error)
		error = add_lines(&proto, differences, lines);
	if (!error)
		error = line_table__new(lines, proto.code_count, table);
	free(differences);
	free(lines);
	return error;
}
