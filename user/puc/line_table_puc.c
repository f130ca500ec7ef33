/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/line_table_puc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ABSLINEINFO, ldebug.h, since 5.4: no difference; the line is in abslineinfo. */
#define ABSOLUTE (-128)

/* AbsLineInfo, lobject.h, since 5.4. */
struct absolute_line {
	int32_t pc;
	int32_t line;
};

/* A table that is being read. */
struct reading {
	const struct target_memory *memory;
	const struct ls_puc_layout *layout;
	uint8_t header[UINT8_MAX + sizeof(uint64_t)]; /* copy of the Proto; offsets fit in a byte */
	uint32_t instructions;
	int32_t *lines; /* by instruction, owned */
};

static uint64_t pointer_of(const struct reading *reading, uint8_t offset)
{
	uint64_t pointer;

	memcpy(&pointer, reading->header + offset, sizeof(pointer));
	return pointer;
}

static uint32_t number_of(const struct reading *reading, uint8_t offset)
{
	uint32_t number;

	memcpy(&number, reading->header + offset, sizeof(number));
	return number;
}

/* Since 5.4: line differences, with absolute lines in between (ldebug.c, luaG_getfuncline). */
static int add_up(struct reading *reading, const int8_t *differences,
		  const struct absolute_line *absolute, uint32_t count)
{
	int64_t line = number_of(reading, reading->layout->proto_line_defined);
	uint32_t next = 0;

	for (uint32_t pc = 0; pc < reading->instructions; pc++) {
		if (differences[pc] != ABSOLUTE) {
			line += differences[pc];
		} else {
			if (next == count || absolute[next].pc != (int32_t)pc)
				return -EINVAL;
			line = absolute[next++].line;
		}
		if (line < 0 || line > INT32_MAX)
			return -EINVAL;
		reading->lines[pc] = (int32_t)line;
	}
	return 0;
}

static int read_differences(struct reading *reading)
{
	const struct ls_puc_layout *layout = reading->layout;
	uint32_t count = number_of(reading, layout->proto_abs_line_info_count);
	struct absolute_line *absolute = NULL;
	int8_t *differences = NULL;
	int error = -EINVAL;

	if (count > reading->instructions)
		return error;
	differences = malloc(reading->instructions);
	absolute = malloc((count + 1) * sizeof(*absolute));
	if (!differences || !absolute) {
		error = -ENOMEM;
		goto cleanup;
	}
	error = target_memory__read(reading->memory, pointer_of(reading, layout->proto_line_info),
				    differences, reading->instructions);
	if (!error && count)
		error = target_memory__read(reading->memory,
					    pointer_of(reading, layout->proto_abs_line_info),
					    absolute, count * sizeof(*absolute));
	if (!error)
		error = add_up(reading, differences, absolute, count);
cleanup:
	free(differences);
	free(absolute);
	return error;
}

/* Reads the line of each instruction into reading->lines. 0 or -errno. */
static int read_lines(struct reading *reading)
{
	const struct ls_puc_layout *layout = reading->layout;

	reading->lines = malloc(reading->instructions * sizeof(*reading->lines));
	if (!reading->lines)
		return -ENOMEM;
	if (layout->proto_abs_line_info)
		return read_differences(reading);
	return target_memory__read(reading->memory, pointer_of(reading, layout->proto_line_info),
				   reading->lines, reading->instructions * sizeof(*reading->lines));
}

int line_table_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t prototype, struct line_table **table)
{
	struct reading reading = {.memory = memory, .layout = layout};
	uint32_t line_count;
	int error;

	*table = NULL;
	error = target_memory__read(memory, prototype, reading.header, layout->proto_size);
	if (error)
		return error;
	reading.instructions = number_of(&reading, layout->proto_code_count);
	line_count = number_of(&reading, layout->proto_line_info_count);
	if (reading.header[8] != layout->proto_tag || !reading.instructions ||
	    reading.instructions > INT32_MAX)
		return -EINVAL;
	if (!line_count)
		return 0;
	if (line_count != reading.instructions)
		return -EINVAL;
	if (line_count > LINE_TABLE_INSTRUCTIONS_MAX)
		return -E2BIG;
	error = read_lines(&reading);
	if (!error)
		error = line_table__new(reading.lines, reading.instructions, table);
	free(reading.lines);
	return error;
}
