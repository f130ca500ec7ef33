/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/call_site_luajit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "luajit/prototype_luajit.h"

/* Opcodes of lj_bc.h, the same in all 2.1 releases; number_as_new() converts those of 2.0. */
enum {
	OP_ISLT = 0,
	OP_ISLE = 2,
	OP_ISEQV = 4,
	OP_ISTC = 12,
	OP_MOV = 18,
	OP_NOT = 19,
	OP_UNM = 20,
	OP_LEN = 21,
	OP_ADDVN = 22,
	OP_POW = 37,
	OP_CAT = 38,
	OP_KSTR = 39,
	OP_KNIL = 44,
	OP_UGET = 45,
	OP_USETV = 46,
	OP_UCLO = 50,
	OP_FNEW = 51,
	OP_TNEW = 52,
	OP_TDUP = 53,
	OP_GGET = 54,
	OP_GSET = 55,
	OP_TGETV = 56,
	OP_TGETS = 57,
	OP_TGETR = 59,
	OP_TSETV = 60,
	OP_TSETM = 63,
	OP_TSETR = 64,
	OP_CALLM = 65,
	OP_CALL = 66,
	OP_ITERC = 69,
	OP_ITERN = 70,
	OP_VARG = 71,
	OP_ISNEXT = 72,
	OP_FORI = 77,
	OP_ITERL = 82,
	OP_LOOP = 85,
};

#define CODE_MAX     (1U << 20) /* instructions of a caller: 4 MiB */
#define VARIABLE_MAX (1U << 16) /* bytes of names and extents of its local variables */
#define MOVES_MAX    64         /* registers that a value is followed through */
#define NAMED_KINDS  7          /* VARNAME__MAX, lj_bcdump.h: kinds stored without a name */

struct search {
	const struct target_memory *memory;
	const struct ls_luajit_layout *layout;
	struct ls_luajit_proto proto;
	uint64_t address;
	uint32_t *code; /* instructions up to and including the call */
	uint32_t count;
	uint8_t *variables;
	size_t variables_size;
	struct call_site *site;
};

static uint32_t op_of(uint32_t instruction)
{
	return instruction & 0xff;
}

static uint32_t a_of(uint32_t instruction)
{
	return instruction >> 8 & 0xff;
}

static uint32_t b_of(uint32_t instruction)
{
	return instruction >> 24;
}

static uint32_t c_of(uint32_t instruction)
{
	return instruction >> 16 & 0xff;
}

static uint32_t d_of(uint32_t instruction)
{
	return instruction >> 16;
}

static void set_name(struct search *search, enum call_site_kind kind, const char *name,
		     size_t length)
{
	struct call_site *site = search->site;

	if (length > sizeof(site->name) - 1)
		length = sizeof(site->name) - 1;
	site->kind = kind;
	memcpy(site->name, name, length);
	site->name[length] = '\0';
}

/* Names the call by the string that is object constant `index`. 0 or -errno. */
static int name_constant(struct search *search, enum call_site_kind kind, uint32_t index)
{
	char text[sizeof(search->site->name)];
	ls_luajit_ref_t string;
	uint64_t from;
	uint32_t length;
	int error = index < search->proto.object_count
			    ? target_memory__read(search->memory,
						  search->proto.constants -
							  sizeof(string) * (index + 1ULL),
						  &string, sizeof(string))
			    : -EINVAL;

	if (!error)
		error = prototype_luajit__string(search->memory, search->layout, string, &length,
						 &from);
	if (error)
		return error;
	length = length < sizeof(text) ? length : (uint32_t)sizeof(text) - 1;
	error = length ? target_memory__read(search->memory, from, text, length) : 0;
	if (error)
		return error;
	set_name(search, kind, text, strnlen(text, length));
	search->site->is_covered &= prototype_luajit__covers(0, index);
	return 0;
}

/* Like lj_debug_uvname(), lj_debug.c: the names follow each other. 0 or -errno. */
static int name_upvalue(struct search *search, uint32_t index)
{
	char names[4096];
	uint64_t end = search->address + search->proto.size, from = search->proto.upvalue_info;
	size_t size = end - from < sizeof(names) ? end - from : sizeof(names), at = 0;
	int error;

	search->site->is_covered = false;
	if (!from || from >= end)
		return 0;
	error = target_memory__read(search->memory, from, names, size);
	while (!error && index && at < size)
		index -= !names[at++];
	if (error || strnlen(names + at, size - at) == size - at)
		return error;
	set_name(search, CALL_SITE_UPVALUE, names + at, strlen(names + at));
	return 0;
}

/* lj_buf_ruleb128(), lj_buf.c. */
static uint32_t take_number(const struct search *search, size_t *at)
{
	uint32_t number = 0;

	for (uint32_t shift = 0; *at < search->variables_size && shift < 32; shift += 7) {
		uint8_t byte = search->variables[(*at)++];

		number |= (uint32_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return number;
}

/*
 * Like debug_varname(), lj_debug.c. An entry has the name, the start of its extent relative to the
 * previous start, and its length. Returns whether `slot` is a local variable at `pc`.
 */
static bool name_local(struct search *search, uint32_t pc, uint32_t slot)
{
	static const char *const kinds[NAMED_KINDS] = {"",
						       "(for index)",
						       "(for limit)",
						       "(for step)",
						       "(for generator)",
						       "(for state)",
						       "(for control)"};
	const char *text = (const char *)search->variables;
	size_t at = 0, room = search->variables_size;
	uint32_t start = 0;

	while (at < room && text[at]) {
		uint8_t kind = search->variables[at];
		size_t name = at;

		at += kind < NAMED_KINDS ? 1 : strnlen(text + at, room - at) + 1;
		start += take_number(search, &at);
		if (start > pc)
			break;
		if (pc >= start + take_number(search, &at) || slot--)
			continue;
		search->site->is_covered = false;
		if (kind < NAMED_KINDS)
			set_name(search, CALL_SITE_LOCAL, kinds[kind], strlen(kinds[kind]));
		else
			set_name(search, CALL_SITE_LOCAL, text + name,
				 strnlen(text + name, room - name));
		return true;
	}
	return false;
}

/* Whether the instruction sets the registers from A on: bcmode_a() is BCMbase, lj_bc.h. */
static bool sets_from_a(uint32_t op)
{
	return op == OP_KNIL || op == OP_TSETM || (op >= OP_CALLM && op <= OP_ISNEXT + 1) ||
	       (op >= OP_FORI && op < OP_LOOP);
}

/* Whether it sets register A alone: BCMdst. */
static bool sets_a(uint32_t op)
{
	return op == OP_ISTC || op == OP_ISTC + 1 || (op >= OP_MOV && op < OP_KNIL) ||
	       op == OP_UGET || (op >= OP_FNEW && op <= OP_GGET) ||
	       (op >= OP_TGETV && op <= OP_TGETR);
}

/* Whether it sets `slot` as one of several registers. */
static bool sets_among_others(uint32_t instruction, uint32_t slot)
{
	uint32_t op = op_of(instruction);

	return sets_from_a(op) && slot >= a_of(instruction) &&
	       (op != OP_KNIL || slot <= d_of(instruction));
}

/* Names the value that instruction `at` has put into a register. 0 or -errno. */
static int name_value(struct search *search, uint32_t at)
{
	uint32_t instruction = search->code[at], before = at ? search->code[at - 1] : 0;
	bool is_method;

	switch (op_of(instruction)) {
	case OP_GGET:
		return name_constant(search, CALL_SITE_GLOBAL, d_of(instruction));
	case OP_TGETS:
		is_method = at && op_of(before) == OP_MOV &&
			    a_of(before) == a_of(instruction) + 2 &&
			    d_of(before) == b_of(instruction);
		return name_constant(search, is_method ? CALL_SITE_METHOD : CALL_SITE_FIELD,
				     c_of(instruction));
	case OP_UGET:
		return name_upvalue(search, d_of(instruction));
	default:
		return 0;
	}
}

/* Like lj_debug_slotname(), lj_debug.c. 0 or -errno. */
static int name_register(struct search *search, uint32_t pc, uint32_t slot)
{
	uint32_t moves = 0;

	if (name_local(search, pc, slot))
		return 0;
	while (--pc > 0 && pc < search->count) {
		uint32_t instruction = search->code[pc], op = op_of(instruction);

		if (sets_among_others(instruction, slot))
			return 0;
		if (!sets_a(op) || a_of(instruction) != slot)
			continue;
		if (op != OP_MOV)
			return name_value(search, pc);
		slot = d_of(instruction);
		if (++moves > MOVES_MAX || name_local(search, pc, slot))
			return 0;
	}
	return 0;
}

/*
 * Names the iterator in `slot` after the instruction that set the slot. From there to `pc`, the
 * slot is the hidden variable "(for generator)", so this cannot look for its name at `pc`. 0 or
 * -errno.
 */
static int name_iterator(struct search *search, uint32_t pc, uint32_t slot)
{
	bool is_made = false;
	int error = 0;

	while (--pc > 0 && pc < search->count) {
		uint32_t instruction = search->code[pc], op = op_of(instruction);

		is_made = (op == OP_CALLM || op == OP_CALL) && a_of(instruction) == slot;
		if (is_made || (sets_a(op) && a_of(instruction) == slot)) {
			error = name_register(search, is_made ? pc : pc + 1, slot);
			break;
		}
		if (sets_among_others(instruction, slot))
			break;
	}
	if (!error)
		call_site__name_iterator(search->site, is_made);
	return error;
}

/* The event of the metamethod that an instruction calls (the last column of BCDEF); NULL: none. */
static const char *event_of(uint32_t op)
{
	static const char *const arithmetic[] = {"__add", "__sub", "__mul", "__div", "__mod"};

	if (op < OP_ISEQV)
		return op < OP_ISLE ? "__lt" : "__le";
	if (op < OP_ISTC)
		return "__eq";
	if (op == OP_UNM)
		return "__unm";
	if (op == OP_LEN)
		return "__len";
	if (op >= OP_ADDVN && op < OP_POW)
		return arithmetic[(op - OP_ADDVN) % 5];
	if (op == OP_POW)
		return "__pow";
	if (op == OP_CAT)
		return "__concat";
	if (op >= OP_FNEW && op <= OP_TDUP)
		return "__gc";
	if (op == OP_GGET || (op >= OP_TGETV && op <= OP_TGETR))
		return "__index";
	return op == OP_GSET || (op >= OP_TSETV && op <= OP_TSETR) ? "__newindex" : NULL;
}

/* Like lj_debug_funcname(), lj_debug.c. ITERC calls what is in register A - 3. 0 or -errno. */
static int name_call(struct search *search)
{
	uint32_t pc = search->count - 1, instruction = search->code[pc], op = op_of(instruction);
	uint32_t slot = a_of(instruction);
	const char *event = event_of(op);

	if (op == OP_ITERC && slot < 3)
		return -EINVAL;
	if (op == OP_ITERC)
		return name_iterator(search, pc, slot - 3);
	if (op >= OP_CALLM && op <= OP_ITERN)
		return name_register(search, pc, slot);
	if (event)
		set_name(search, CALL_SITE_METAMETHOD, event, strlen(event));
	return 0;
}

/* 2.0 lacks ISTYPE and ISNUM (right before MOV), TGETR and TSETR. */
static uint32_t number_as_new(uint32_t instruction)
{
	uint32_t op = op_of(instruction);

	if (op >= OP_MOV - 2)
		op += 2;
	if (op >= OP_TGETR)
		op++;
	if (op >= OP_TSETR)
		op++;
	return (instruction & ~0xffU) | (op & 0xff);
}

/* Copies the names and extents of local variables, the last part of a GCproto. 0 or -errno. */
static int read_variables(struct search *search)
{
	uint64_t end = search->address + search->proto.size, from = search->proto.variable_info;

	if (!from)
		return 0;
	if (from >= end || end - from > VARIABLE_MAX)
		return -EINVAL;
	search->variables_size = end - from;
	search->variables = malloc(search->variables_size);
	if (!search->variables)
		return -ENOMEM;
	return target_memory__read(search->memory, from, search->variables, search->variables_size);
}

static int open_search(struct search *search, uint32_t pc)
{
	int error = prototype_luajit__read(search->memory, search->address, &search->proto);

	if (error)
		return error;
	if (pc >= search->proto.code_count || pc >= CODE_MAX)
		return -EINVAL;
	search->count = pc + 1;
	search->code = malloc(search->count * sizeof(*search->code));
	if (!search->code)
		return -ENOMEM;
	error = target_memory__read(search->memory, search->address + sizeof(search->proto),
				    search->code, search->count * sizeof(*search->code));
	if (error)
		return error;
	for (uint32_t i = 0; i < search->count && search->layout->op_iterc < OP_ITERC; i++)
		search->code[i] = number_as_new(search->code[i]);
	return read_variables(search);
}

int call_site_luajit__read(const struct target_memory *memory,
			   const struct ls_luajit_layout *layout, uint64_t caller, uint32_t pc,
			   struct call_site *site)
{
	struct search search = {
		.memory = memory, .layout = layout, .address = caller, .site = site};
	int error;

	memset(site, 0, sizeof(*site));
	site->is_covered = prototype_luajit__covers(pc, 0);
	error = open_search(&search, pc);
	if (!error)
		error = name_call(&search);
	free(search.code);
	free(search.variables);
	if (error || site->kind == CALL_SITE_UNKNOWN)
		memset(site, 0, sizeof(*site));
	return error;
}
