/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call instruction tells which register holds the function. The last instruction before it that
 * wrote the register tells where the function came from: a global, a field, a method, or another
 * register, which is then resolved in the same way. The iterator of a `for` loop is named after the
 * call that wrote its register. Programs rarely keep the names of local variables and upvalues, so
 * a function that comes from there has no name here.
 */
#include "luau/call_site_luau.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "luau/bytecode_luau.h"
#include "luau/prototype_luau.h"

#define CODE_MAX  (1U << 20)  /* instructions; 4 MiB */
#define STEPS_MAX (16U << 20) /* of one look-up: 16 passes over the largest function */
#define MOVES_MAX 8

#define NOWHERE -1 /* no instruction */

struct search {
	const struct target_memory *memory;
	struct constants_luau constants;
	uint32_t *code;
	int64_t count, steps_left;
	bool is_old;       /* as older compilers mean the code */
	bool is_ambiguous; /* they might mean something else by it */
};

/* Moves on to the next instruction; *op is the row of the one at *pc. False: it cannot be told. */
static bool next(struct search *search, int64_t *pc, int64_t *at,
		 const struct bytecode_op_luau **op)
{
	uint32_t word = search->code[*pc];

	*at = *pc;
	*op = bytecode_luau__op(word, search->is_old);
	search->is_ambiguous |= bytecode_luau__is_ambiguous(word);
	*pc += (*op)->words;
	return (*op)->words && --search->steps_left > 0;
}

static bool writes_register(const struct bytecode_op_luau *op, uint32_t word, uint8_t reg)
{
	uint8_t a = bytecode_luau__a(word);

	switch ((enum luau_writes)op->writes) {
	case LUAU_WRITES_A:
		return reg == a;
	case LUAU_WRITES_A_AND_NEXT:
		return reg == a || reg == a + 1;
	case LUAU_WRITES_FROM_A:
		return reg >= a;
	default:
		return false;
	}
}

/* Finds the last write to `reg` before `end`; NOWHERE: none, or a jump may have skipped it. */
static int find_writer(struct search *search, int64_t end, uint8_t reg, int64_t *writer)
{
	int64_t conditional_until = 0, at, target;
	const struct bytecode_op_luau *op;

	*writer = NOWHERE;
	for (int64_t pc = 0; pc < end;) {
		if (!next(search, &pc, &at, &op))
			return -EINVAL;
		target = at + 1 + bytecode_luau__jump(op, search->code[at]);
		if (op->jumps && target > at && target <= end && target > conditional_until)
			conditional_until = target;
		if (writes_register(op, search->code[at], reg))
			*writer = at < conditional_until ? NOWHERE : at;
	}
	return 0;
}

/* Whether no other instruction of the function writes the register. */
static bool is_only_writer(struct search *search, int64_t writer, uint8_t reg)
{
	const struct bytecode_op_luau *op;
	int64_t at;

	for (int64_t pc = 0; pc < search->count;)
		if (!next(search, &pc, &at, &op) ||
		    (at != writer && writes_register(op, search->code[at], reg)))
			return false;
	return true;
}

static int name_constant(struct search *search, uint32_t index, enum call_site_kind kind,
			 struct call_site *site)
{
	int found =
		constants_luau__string(&search->constants, index, site->name, sizeof(site->name));

	site->kind = found > 0 ? kind : CALL_SITE_UNKNOWN;
	return found < 0 ? found : 0;
}

/* The last part of a path such as string.gmatch: 1 to 3 constants, of 10 bits each. */
static int name_import(struct search *search, uint32_t path, struct call_site *site)
{
	uint32_t count = path >> 30;

	if (!count)
		return -EINVAL;
	return name_constant(search, path >> (30 - 10 * count) & 0x3ff,
			     count == 1 ? CALL_SITE_GLOBAL : CALL_SITE_FIELD, site);
}

/* Names what the instruction at `at` wrote to `reg`, unless it came from another register. */
static int name_loaded(struct search *search, int64_t at, uint8_t reg, struct call_site *site)
{
	uint32_t word = search->code[at];
	/* The writer precedes the call, so there is a next word. */
	uint32_t operand = search->code[at + 1];

	if (reg != bytecode_luau__a(word))
		return 0;
	switch (bytecode_luau__opcode(word)) {
	case LUAU_GETGLOBAL:
		return name_constant(search, operand, CALL_SITE_GLOBAL, site);
	case LUAU_GETIMPORT:
		return name_import(search, operand, site);
	case LUAU_GETTABLEKS:
		return name_constant(search, operand, CALL_SITE_FIELD, site);
	case LUAU_GETUDATAKS:
		return name_constant(search, operand & 0xffff, CALL_SITE_FIELD, site);
	case LUAU_NAMECALL:
		return name_constant(search, operand, CALL_SITE_METHOD, site);
	case LUAU_NAMECALLUDATA:
		return name_constant(search, operand & 0xffff, CALL_SITE_METHOD, site);
	default:
		return 0;
	}
}

/*
 * Names the value of `reg` before `end`. A local variable that the function changes elsewhere may
 * have another value: what it was set to last is not followed.
 */
static int name_register(struct search *search, int64_t end, uint8_t reg, struct call_site *site)
{
	int64_t writer;

	for (int moves = 0; moves < MOVES_MAX; moves++) {
		int error = find_writer(search, end, reg, &writer);

		if (error || writer == NOWHERE || (moves && !is_only_writer(search, writer, reg)))
			return error;
		if (bytecode_luau__opcode(search->code[writer]) != LUAU_MOVE)
			return name_loaded(search, writer, reg, site);
		reg = bytecode_luau__b(search->code[writer]);
		end = writer;
	}
	return 0;
}

static bool is_call(uint32_t word)
{
	uint8_t opcode = bytecode_luau__opcode(word);

	return opcode == LUAU_CALL || opcode == LUAU_CALLFB;
}

/*
 * The instruction that enters the loop which ends at `loop`: it jumps there. So do others, but they
 * are in the loop's body, which it precedes. NOWHERE: there is none.
 */
static int find_entry(struct search *search, int64_t loop, int64_t *entry)
{
	const struct bytecode_op_luau *op;
	int64_t at;

	*entry = NOWHERE;
	for (int64_t pc = 0; pc < loop && *entry == NOWHERE;) {
		if (!next(search, &pc, &at, &op))
			return -EINVAL;
		if (op->jumps && at + 1 + bytecode_luau__jump(op, search->code[at]) == loop)
			*entry = at;
	}
	return 0;
}

static int name_iterator(struct search *search, int64_t loop, struct call_site *site)
{
	uint8_t reg = bytecode_luau__a(search->code[loop]);
	int64_t entry, writer = NOWHERE;
	bool is_made = false;
	int error = find_entry(search, loop, &entry);

	if (!error && entry != NOWHERE)
		error = find_writer(search, entry, reg, &writer);
	if (!error && writer != NOWHERE) {
		is_made = is_call(search->code[writer]) &&
			  bytecode_luau__a(search->code[writer]) == reg;
		error = name_register(search, is_made ? writer : entry, reg, site);
	}
	if (!error)
		call_site__name_iterator(site, is_made);
	return error;
}

/* `pc` is the instruction that called or, if an operand follows that, maybe the operand. */
static int name_call(struct search *search, int64_t pc, struct call_site *site)
{
	const struct bytecode_op_luau *op;
	int64_t at = NOWHERE;

	for (int64_t next_pc = 0; next_pc <= pc;)
		if (!next(search, &next_pc, &at, &op))
			return -EINVAL;
	if (is_call(search->code[at]))
		return name_register(search, at, bytecode_luau__a(search->code[at]), site);
	if (bytecode_luau__opcode(search->code[at]) == LUAU_FORGLOOP)
		return name_iterator(search, at, site);
	return 0;
}

/*
 * Where older and newer compilers would mean different code, only a name that both have counts: an
 * instruction more or less rarely matters.
 */
static int name_as_either(struct search *search, uint32_t pc, struct call_site *site)
{
	struct call_site old = {};
	int error = name_call(search, pc, site);

	if (error || !search->is_ambiguous)
		return error;
	search->is_old = true;
	error = name_call(search, pc, &old);
	if (error || old.kind != site->kind || strcmp(old.name, site->name) != 0)
		*site = (struct call_site){};
	return 0;
}

static int read_code(struct search *search, uint64_t code, uint32_t count, uint32_t pc)
{
	if (pc >= count)
		return -EINVAL;
	if (count > CODE_MAX)
		return -E2BIG;
	search->count = count;
	search->code = malloc(count * sizeof(*search->code));
	if (!search->code)
		return -ENOMEM;
	return target_memory__read(search->memory, code, search->code,
				   count * sizeof(*search->code));
}

int call_site_luau__read(const struct target_memory *memory, const struct ls_luau_layout *layout,
			 uint64_t caller, uint32_t pc, struct call_site *site)
{
	struct search search = {.memory = memory, .steps_left = STEPS_MAX};
	uint64_t code;
	uint32_t count;
	int error;

	*site = (struct call_site){};
	error = prototype_luau__code(memory, layout, caller, &code, &count, &search.constants);
	if (!error)
		error = read_code(&search, code, count, pc);
	if (!error)
		error = name_as_either(&search, pc, site);
	free(search.code);
	if (error || site->kind == CALL_SITE_UNKNOWN)
		*site = (struct call_site){};
	return error;
}
