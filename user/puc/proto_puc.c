/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/proto_puc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "puc/prototype_puc.h"
#include "puc/string_puc.h"
#include "tags_puc.h"

/* More instructions than any compiled file has: 16 MiB. This bounds what one look-up reads. */
#define CODE_MAX (4U << 20)

/* lparser.c grows the array of local variables to SHRT_MAX and no further, in every release. */
#define LOCALS_MAX 32767

/* Local variables are read this many at a time. */
#define LOCALS_CHUNK 128

/* lobject.h, every release from 5.1 to 5.5 on 64-bit machines. */
#define TVALUE_SIZE    16
#define UPVALDESC_SIZE 16 /* from 5.2 on; its name comes first */

/* Proto, lobject.h, 5.1: only needed to count the pseudo-instructions after a CLOSURE. */
#define PROTO_5_1_CAPTURES 112 /* nups */

_Static_assert(sizeof(struct local_var_puc) == 16, "LocVar of lobject.h, every release");

static uint64_t pointer_at(const uint8_t *bytes, size_t offset)
{
	uint64_t pointer;

	memcpy(&pointer, bytes + offset, sizeof(pointer));
	return pointer;
}

/* Sizes are ints in the target. A negative one becomes huge, so that it exceeds every bound. */
static uint32_t count_at(const uint8_t *bytes, size_t offset)
{
	uint32_t count;

	memcpy(&count, bytes + offset, sizeof(count));
	return count;
}

static void note_beyond(struct proto_puc *proto, bool is_covered)
{
	proto->is_beyond_fingerprint |= !is_covered;
}

/* Takes over all but the code. `code` is its address, *count how many instructions it has. */
static int open_header(struct proto_puc *proto, uint64_t address, uint64_t *code, uint32_t *count)
{
	const struct ls_puc_layout *layout = proto->layout;
	/* Offsets fit in a byte, so no layout reads beyond this. */
	uint8_t header[UINT8_MAX + sizeof(uint64_t)] = {0};
	int error = target_memory__read(proto->memory, address, header, layout->proto_size);

	if (error)
		return error;
	*code = pointer_at(header, layout->proto_code);
	*count = count_at(header, layout->proto_code_count);
	if (header[LS_OBJECT_TAG] != layout->proto_tag || *count > INT32_MAX)
		return -EINVAL;
	proto->constants = pointer_at(header, layout->proto_constants);
	proto->constant_count = count_at(header, layout->proto_constant_count);
	proto->locals = pointer_at(header, layout->proto_local_vars);
	proto->local_count = count_at(header, layout->proto_local_var_count);
	proto->upvalues = pointer_at(header, layout->proto_upvalues);
	proto->upvalue_count = count_at(header, layout->proto_upvalue_count);
	proto->nested = pointer_at(header, layout->proto_nested);
	proto->nested_count = count_at(header, layout->proto_nested_count);
	proto->is_stripped = !count_at(header, layout->proto_line_info_count);
	return proto->local_count > LOCALS_MAX ? -EINVAL : 0;
}

static int copy_code(struct proto_puc *proto, uint64_t code, uint32_t count)
{
	proto->code_count = count;
	proto->code = malloc(count * sizeof(*proto->code));
	if (!proto->code)
		return -ENOMEM;
	return target_memory__read(proto->memory, code, proto->code, count * sizeof(*proto->code));
}

int proto_puc__open(struct proto_puc *proto, const struct target_memory *memory,
		    const struct ls_puc_layout *layout, uint64_t address, uint32_t pc)
{
	uint32_t count;
	uint64_t code;
	int error;

	*proto = (struct proto_puc){.memory = memory, .layout = layout};
	error = open_header(proto, address, &code, &count);
	if (error)
		return error;
	if (pc >= count || pc >= CODE_MAX)
		return -EINVAL;
	note_beyond(proto, prototype_puc__covers_code(count, pc));
	return copy_code(proto, code, pc + 1);
}

int proto_puc__open_whole(struct proto_puc *proto, const struct target_memory *memory,
			  const struct ls_puc_layout *layout, uint64_t address, uint32_t most)
{
	uint32_t count;
	uint64_t code;
	int error;

	*proto = (struct proto_puc){.memory = memory, .layout = layout};
	error = open_header(proto, address, &code, &count);
	if (error)
		return error;
	if (!count || count > most)
		return count ? -E2BIG : -EINVAL;
	note_beyond(proto, prototype_puc__covers_code(count, count - 1));
	return copy_code(proto, code, count);
}

void proto_puc__close(struct proto_puc *proto)
{
	if (!proto)
		return;
	free(proto->code);
	proto->code = NULL;
}

/* `before`: how many strings precede it in the array that it was found in. */
static int read_string(struct proto_puc *proto, uint64_t address, uint32_t before,
		       char name[PROTO_PUC_NAME_SIZE])
{
	uint64_t text, length;
	int error = string_puc__find(proto->memory, proto->layout, address, &text, &length);

	if (error)
		return error;
	note_beyond(proto, prototype_puc__covers_text(before, length));
	if (length > PROTO_PUC_NAME_SIZE - 1)
		length = PROTO_PUC_NAME_SIZE - 1;
	memset(name, 0, PROTO_PUC_NAME_SIZE);
	error = length ? target_memory__read(proto->memory, text, name, length) : 0;
	return error ? error : 1;
}

static bool is_string(const uint8_t value[TVALUE_SIZE])
{
	return LS_TYPE(value[LS_TVALUE_TAG]) == LS_TYPE_STRING;
}

/* A constant is read with those before it in its chunk, to count the strings among them. */
#define VALUES_CHUNK 16

int proto_puc__constant(struct proto_puc *proto, uint32_t index, char name[PROTO_PUC_NAME_SIZE])
{
	uint8_t values[VALUES_CHUNK][TVALUE_SIZE];
	uint32_t before = index % VALUES_CHUNK, first = index - before, strings = 0;
	int error;

	if (index >= proto->constant_count)
		return -EINVAL;
	error = target_memory__read(proto->memory, proto->constants + (uint64_t)first * TVALUE_SIZE,
				    values, (before + 1) * sizeof(values[0]));
	if (error)
		return error;
	note_beyond(proto, prototype_puc__covers_item(index));
	if (!is_string(values[before]))
		return 0;
	for (uint32_t i = 0; i < before; i++)
		strings += is_string(values[i]);
	return read_string(proto, pointer_at(values[before], 0), strings, name);
}

int proto_puc__locals(struct proto_puc *proto, struct local_var_puc *locals)
{
	return proto->local_count ? target_memory__read(proto->memory, proto->locals, locals,
							proto->local_count * sizeof(*locals))
				  : 0;
}

int proto_puc__nested(struct proto_puc *proto, uint64_t *nested)
{
	return proto->nested_count ? target_memory__read(proto->memory, proto->nested, nested,
							 proto->nested_count * sizeof(*nested))
				   : 0;
}

int proto_puc__local_name(struct proto_puc *proto, const struct local_var_puc *local,
			  uint32_t index, char name[PROTO_PUC_NAME_SIZE])
{
	note_beyond(proto, prototype_puc__covers_item(index));
	return read_string(proto, local->name, index, name);
}

int proto_puc__local(struct proto_puc *proto, uint32_t reg, int64_t pc,
		     char name[PROTO_PUC_NAME_SIZE])
{
	struct local_var_puc vars[LOCALS_CHUNK];
	uint32_t active = 0, first, count, i;
	int error;

	for (first = 0; first < proto->local_count; first += count) {
		count = proto->local_count - first;
		if (count > LOCALS_CHUNK)
			count = LOCALS_CHUNK;
		error = target_memory__read(proto->memory, proto->locals + first * sizeof(vars[0]),
					    vars, count * sizeof(vars[0]));
		if (error)
			return error;
		/* Sorted by start_pc; the nth that is alive at `pc` is in register n. */
		for (i = 0; i < count; i++) {
			note_beyond(proto, prototype_puc__covers_item(first + i));
			if (vars[i].start_pc > pc)
				return 0;
			if (pc < vars[i].end_pc && active++ == reg)
				return read_string(proto, vars[i].name, first + i, name);
		}
	}
	return 0;
}

int proto_puc__upvalue(struct proto_puc *proto, uint32_t index, char name[PROTO_PUC_NAME_SIZE])
{
	uint64_t size = proto->layout->minor == 1 ? sizeof(uint64_t) : UPVALDESC_SIZE;
	uint64_t string = 0;
	int error;

	note_beyond(proto, prototype_puc__covers_item(index));
	if (index < proto->upvalue_count && proto->upvalues) {
		error = target_memory__read(proto->memory, proto->upvalues + index * size, &string,
					    sizeof(string));
		if (error)
			return error;
	}
	if (string)
		return read_string(proto, string, index, name);
	strcpy(name, "?");
	return 1;
}

int proto_puc__captures(struct proto_puc *proto, uint32_t index)
{
	uint64_t nested;
	uint8_t count;
	int error;

	if (index >= proto->nested_count)
		return -EINVAL;
	note_beyond(proto, false);
	error = target_memory__read(proto->memory, proto->nested + index * sizeof(nested), &nested,
				    sizeof(nested));
	if (!error)
		error = target_memory__read(proto->memory, nested + PROTO_5_1_CAPTURES, &count,
					    sizeof(count));
	return error ? error : count;
}
