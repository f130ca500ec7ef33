/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/proto_members_luau.h"

#include <errno.h>
#include <stdbool.h>

#include "luau/derivation_luau.h"
#include "luau/prototype_luau.h"

#define FUNCTIONS_NEEDED 3 /* with lines, of more than one size */

#define TABLES_BYTES_MAX (64 << 20) /* of lines */
#define PAIRS_MAX        8          /* of tables whose sizes are searched; an honest VM has one */
#define LINES_NEAR       8          /* from a definition to its first instruction, mostly */
#define CHILDREN_MOST    (1U << 24)

/* ---- children */

static bool is_proto(const struct derivation *derivation, const struct proto_specimen *like,
		     uint64_t address)
{
	return specimens_luau__type_at(derivation->specimens, address) == like->bytes[0];
}

static enum verdict judge_children(const struct derivation *derivation,
				   const struct proto_specimen *proto, size_t offset)
{
	uint64_t array = proto_specimen__word(proto, offset);

	if (!array)
		return SAYS_NOTHING;
	return is_proto(derivation, proto, derivation_luau__word(derivation, array)) ? CONFIRMS
										     : CONTRADICTS;
}

/* If no function defines another, children are where they have been so far. */
static int find_children(struct derivation *derivation)
{
	const size_t expected = derivation->layout.proto_children;
	size_t offset = derivation_luau__find(derivation, judge_children, expected, 8, 1);

	if (!offset && !derivation_luau__holds(derivation, judge_children, expected, 0))
		return derivation_luau__give_up(
			derivation, "no member points to the functions that others define");
	if (offset)
		derivation->layout.proto_children = (uint8_t)offset;
	specimens_luau__add_children(derivation->specimens, derivation->layout.proto_children);
	return 0;
}

/* ---- lines */

static enum verdict judge_tables(const struct derivation *derivation,
				 const struct proto_specimen *proto, size_t offset)
{
	uint64_t lines = proto_specimen__word(proto, derivation->layout.proto_line_info);
	uint64_t bases = proto_specimen__word(proto, offset), bytes = bases - lines;

	if (!lines || !bases)
		return lines || bases ? CONTRADICTS : SAYS_NOTHING;
	return bytes && bytes <= TABLES_BYTES_MAX && !(bytes & 3) ? CONFIRMS : CONTRADICTS;
}

static enum verdict judge_code_count(const struct derivation *derivation,
				     const struct proto_specimen *proto, size_t offset)
{
	uint64_t lines = proto_specimen__word(proto, derivation->layout.proto_line_info);
	uint64_t bases = proto_specimen__word(proto, derivation->layout.proto_line_bases);
	uint64_t count = proto_specimen__half(proto, offset);

	if (!lines)
		return SAYS_NOTHING;
	return count && ((count + 3) & ~3ULL) == bases - lines ? CONFIRMS : CONTRADICTS;
}

static enum verdict judge_lines(const struct derivation *derivation,
				const struct proto_specimen *proto, size_t gap)
{
	struct ls_luau_layout layout = derivation->layout;

	layout.proto_line_gap = (uint8_t)gap;
	if (!prototype_luau__has_lines(&layout, proto->bytes))
		return CONTRADICTS;
	return proto_specimen__word(proto, layout.proto_line_info) ? CONFIRMS : SAYS_NOTHING;
}

/*
 * Whether functions differ in their number of instructions. If all were equal, any number that they
 * have in common could be it.
 */
static bool has_sizes(const struct derivation *derivation, size_t code_count)
{
	uint32_t first = 0;

	for (size_t i = 0; i < derivation->specimens->proto_count; i++) {
		const struct proto_specimen *proto = &derivation->specimens->protos[i];
		uint32_t count = (proto_specimen__half(proto, code_count) + 3) & ~3U;

		if (!proto_specimen__word(proto, derivation->layout.proto_line_info))
			continue;
		if (first && count != first)
			return true;
		first = count;
	}
	return false;
}

/* Finds the sizes of the two tables in derivation->layout. Returns false if there are none. */
static bool find_sizes_of_tables(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;
	size_t count = derivation_luau__find(derivation, judge_code_count, 0, 4, FUNCTIONS_NEEDED);

	if (!count || !has_sizes(derivation, count) || derivation->pairs++ >= PAIRS_MAX)
		return false;
	layout->proto_code_count = (uint8_t)count;
	for (size_t size = FIRST_MEMBER; size + 4 <= PROTO_BYTES; size += 4) {
		size_t gap;

		layout->proto_line_info_size = (uint8_t)size;
		gap = derivation_luau__find(derivation, judge_lines, size + 4, 4, FUNCTIONS_NEEDED);
		if (!gap)
			continue;
		layout->proto_line_gap = (uint8_t)gap;
		return true;
	}
	return false;
}

static int find_lines(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;

	for (size_t lines = FIRST_MEMBER; lines + 8 <= PROTO_BYTES; lines += 8) {
		layout->proto_line_info = (uint8_t)lines;
		for (size_t bases = FIRST_MEMBER; bases + 8 <= PROTO_BYTES; bases += 8) {
			if (bases == lines || !derivation_luau__holds(derivation, judge_tables,
								      bases, FUNCTIONS_NEEDED))
				continue;
			layout->proto_line_bases = (uint8_t)bases;
			if (find_sizes_of_tables(derivation))
				return 0;
		}
	}
	return derivation_luau__give_up(derivation,
					"no two members are tables of lines whose sizes fit");
}

static bool read_first_line(const struct derivation *derivation, const struct proto_specimen *proto,
			    uint32_t *line)
{
	const struct target_memory *memory = derivation->specimens->memory;
	uint64_t lines = proto_specimen__word(proto, derivation->layout.proto_line_info);
	uint64_t bases = proto_specimen__word(proto, derivation->layout.proto_line_bases);
	uint8_t difference;

	if (!lines || target_memory__read(memory, bases, line, sizeof(*line)) ||
	    target_memory__read(memory, lines, &difference, sizeof(difference)))
		return false;
	*line += difference;
	return true;
}

static enum verdict judge_line_defined(const struct derivation *derivation,
				       const struct proto_specimen *proto, size_t offset)
{
	uint32_t defined = proto_specimen__half(proto, offset), first;

	if (defined == LS_LUAU_NO_LINE)
		return CONFIRMS;
	if (!read_first_line(derivation, proto, &first))
		return SAYS_NOTHING;
	if (defined > first)
		return CONTRADICTS;
	return first - defined <= LINES_NEAR ? CONFIRMS : SAYS_NOTHING;
}

static int find_line_defined(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;
	size_t offset =
		derivation_luau__find(derivation, judge_line_defined, layout->proto_line_gap + 4U,
				      4, (derivation->specimens->proto_count + 1) / 2);

	if (!offset)
		return derivation_luau__give_up(
			derivation, "no member is the line that a function is defined in");
	layout->proto_line_defined = (uint8_t)offset;
	return 0;
}

/* ---- names */

static enum verdict judge_string(const struct derivation *derivation,
				 const struct proto_specimen *proto, size_t offset)
{
	uint64_t word = proto_specimen__word(proto, offset);

	if (!word)
		return SAYS_NOTHING;
	return specimens_luau__is_string(derivation->specimens, word) ? CONFIRMS : CONTRADICTS;
}

static enum verdict judge_source(const struct derivation *derivation,
				 const struct proto_specimen *proto, size_t offset)
{
	const struct proto_specimen *protos = derivation->specimens->protos;
	uint64_t word = proto_specimen__word(proto, offset);

	if (!specimens_luau__is_string(derivation->specimens, word))
		return CONTRADICTS;
	if (proto->parent < 0)
		return SAYS_NOTHING;
	return word == proto_specimen__word(&protos[proto->parent], offset) ? CONFIRMS
									    : CONTRADICTS;
}

/* debugname is another string; if several could be it, the one right after source. */
static int find_names(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;
	size_t expected = layout->proto_line_info + 32U, found = 0;
	size_t source = derivation_luau__find(derivation, judge_source, expected, 8, 1);

	/* If no child confirms it, it is where it has been so far. */
	if (!source && derivation_luau__holds(derivation, judge_source, expected, 0))
		source = expected;
	if (!source)
		return derivation_luau__give_up(
			derivation, "no member is the name of a chunk, which functions have "
				    "in common with those that they define");
	layout->proto_source = (uint8_t)source;
	if (derivation_luau__holds(derivation, judge_string, source + 8, 1))
		found = source + 8;
	for (size_t offset = FIRST_MEMBER; offset + 8 <= PROTO_BYTES && !found; offset += 8)
		if (offset != source && derivation_luau__holds(derivation, judge_string, offset, 1))
			found = offset;
	if (!found)
		return derivation_luau__give_up(derivation, "no member is the name of a function");
	layout->proto_name = (uint8_t)found;
	return 0;
}

/* ---- code, constants and numbers */

static bool has_closure(const struct derivation *derivation, uint64_t address, uint64_t proto)
{
	const struct specimens *specimens = derivation->specimens;

	for (size_t i = 0; i < specimens->closure_count; i++)
		if (specimens->closures[i].address == address)
			return specimens->closures[i]
				       .words[derivation->layout.closure_function / 8] == proto;
	return false;
}

static enum verdict judge_code(const struct derivation *derivation,
			       const struct proto_specimen *proto, size_t offset)
{
	const struct specimens *specimens = derivation->specimens;
	uint64_t bytes = 4ULL * proto_specimen__half(proto, derivation->layout.proto_code_count);
	uint64_t code = proto_specimen__word(proto, offset);
	enum verdict verdict = code ? SAYS_NOTHING : CONTRADICTS;

	for (size_t i = 0; i < specimens->call_count; i++) {
		uint64_t distance = specimens->calls[i].pc - code;

		if (!has_closure(derivation, specimens->calls[i].closure, proto->address))
			continue;
		if (distance <= bytes && !(distance & 3))
			return CONFIRMS;
		verdict = CONTRADICTS;
	}
	return verdict;
}

static enum verdict judge_child_count(const struct derivation *derivation,
				      const struct proto_specimen *proto, size_t offset)
{
	uint64_t array = proto_specimen__word(proto, derivation->layout.proto_children);
	uint64_t count = proto_specimen__half(proto, offset);

	if (!array || !count)
		return array || count ? CONTRADICTS : SAYS_NOTHING;
	return count <= CHILDREN_MOST &&
			       is_proto(derivation, proto,
					derivation_luau__word(derivation, array + 8 * (count - 1)))
		       ? CONFIRMS
		       : CONTRADICTS;
}

static enum verdict judge_constant_count(const struct derivation *derivation,
					 const struct proto_specimen *proto, size_t offset)
{
	const struct specimens *specimens = derivation->specimens;
	uint64_t array = proto_specimen__word(proto, derivation->layout.proto_constants);
	uint64_t count = proto_specimen__half(proto, offset);
	uint64_t type_at = specimens->value == 24 ? 16 : 12;
	uint32_t type;

	if (!array || !count)
		return array || count ? CONTRADICTS : SAYS_NOTHING;
	if (target_memory__read(specimens->memory, array + (count - 1) * specimens->value + type_at,
				&type, sizeof(type)))
		return CONTRADICTS;
	return type < LS_LUAU_TYPES_MAX ? CONFIRMS : CONTRADICTS;
}

static enum verdict judge_numbers(const struct derivation *derivation,
				  const struct proto_specimen *proto, size_t offset)
{
	const struct ls_luau_layout numbers = {.proto_upvalues = (uint8_t)offset,
					       .proto_parameters = (uint8_t)(offset + 1),
					       .proto_is_vararg = (uint8_t)(offset + 2)};

	(void)derivation;
	if (proto->upvalues < 0)
		return SAYS_NOTHING;
	if (!prototype_luau__has_numbers(&numbers, proto->bytes, (uint8_t)proto->upvalues))
		return CONTRADICTS;
	/* Few functions use no register; where all seem to, something else is there. */
	return proto->bytes[offset + 3] ? CONFIRMS : SAYS_NOTHING;
}

static int find_code(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;

	/* If no call of a Lua function was found, code is where it has been so far. */
	if (derivation_luau__holds(derivation, judge_code, layout->proto_code, 0))
		return 0;
	/* codeentry, which follows code, is equal to it unless there is machine code. */
	for (size_t offset = FIRST_MEMBER; offset + 8 <= PROTO_BYTES; offset += 8) {
		if (!derivation_luau__holds(derivation, judge_code, offset, 1))
			continue;
		layout->proto_code = (uint8_t)offset;
		return 0;
	}
	return derivation_luau__give_up(derivation, "no member is the code that calls go on in");
}

static int find_counts(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;
	const size_t expected = layout->proto_code_count + 4U;
	size_t offset = derivation_luau__find(derivation, judge_child_count, expected, 4, 1);

	if (!offset && derivation_luau__holds(derivation, judge_child_count, expected, 0))
		offset = expected;
	if (!offset)
		return derivation_luau__give_up(
			derivation, "no member counts the functions that a function defines");
	layout->proto_child_count = (uint8_t)offset;
	offset = derivation_luau__find(derivation, judge_constant_count,
				       layout->proto_code_count + 16U, 4, 1);
	for (size_t array = FIRST_MEMBER; !offset && array + 8 <= PROTO_BYTES; array += 8) {
		layout->proto_constants = (uint8_t)array;
		offset = derivation_luau__find(derivation, judge_constant_count, 0, 4, 1);
	}
	if (!offset)
		return derivation_luau__give_up(derivation,
						"no two members are constants and their number");
	layout->proto_constant_count = (uint8_t)offset;
	return 0;
}

/*
 * The numbers of upvalues and parameters, whether the function is variadic, and the number of
 * registers are adjacent.
 */
static int find_numbers(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;

	for (size_t offset = 3; offset + 4 <= PROTO_BYTES; offset++) {
		if (!derivation_luau__holds(derivation, judge_numbers, offset, 1))
			continue;
		layout->proto_upvalues = (uint8_t)offset;
		layout->proto_parameters = (uint8_t)(offset + 1);
		layout->proto_is_vararg = (uint8_t)(offset + 2);
		return 0;
	}
	return derivation_luau__give_up(
		derivation, "no member is the number of upvalues that closures have, too");
}

/* ---- machine code */

/* execdata, which comes first, and exectarget are set together. */
static enum verdict judge_native(const struct derivation *derivation,
				 const struct proto_specimen *proto, size_t offset)
{
	uint64_t data = proto_specimen__word(proto, offset - 8);
	uint64_t target = proto_specimen__word(proto, offset);

	(void)derivation;
	if (!data || !target)
		return data || target ? CONTRADICTS : SAYS_NOTHING;
	return CONFIRMS;
}

/* The address of machine code, right before the lines if there is room, is optional. */
static void find_native(struct derivation *derivation)
{
	struct ls_luau_layout *layout = &derivation->layout;
	uint8_t lines = layout->proto_line_info;

	layout->proto_native = 0;
	if (layout->proto_line_bases < lines)
		lines = layout->proto_line_bases;
	if (lines >= layout->proto_children + 24U &&
	    derivation_luau__holds(derivation, judge_native, lines - 8U, 0))
		layout->proto_native = lines - 8;
}

/* ---- all of it */

static uint8_t end_of(const struct ls_luau_layout *layout)
{
	const size_t ends[] = {
		layout->proto_constants + 8U,      layout->proto_code + 8U,
		layout->proto_children + 8U,       layout->proto_line_info + 8U,
		layout->proto_line_bases + 8U,     layout->proto_source + 8U,
		layout->proto_name + 8U,           layout->proto_code_count + 4U,
		layout->proto_child_count + 4U,    layout->proto_constant_count + 4U,
		layout->proto_line_info_size + 4U, layout->proto_line_gap + 4U,
		layout->proto_line_defined + 4U,   layout->proto_is_vararg + 2U,
	};
	size_t end = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] > end)
			end = ends[i];
	return (uint8_t)((end + 3) & ~3UL);
}

int proto_members_luau__find(struct specimens *specimens, struct ls_luau_layout *layout,
			     const char **missing)
{
	static int (*const steps[])(struct derivation *) = {
		find_children, find_lines,        find_names,   find_code,
		find_counts,   find_line_defined, find_numbers,
	};
	struct derivation derivation = {.specimens = specimens, .layout = *layout};
	int error = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !error; i++)
		error = steps[i](&derivation);
	*missing = derivation.missing;
	if (error)
		return error;
	find_native(&derivation);
	derivation.layout.proto_size = end_of(&derivation.layout);
	*layout = derivation.layout;
	return 0;
}
