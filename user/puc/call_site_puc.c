/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call instruction tells which register holds the function. The function is named after the
 * local variable that lives there. If there is none, the last instruction before the call that
 * wrote the register tells where the function came from: a global, a field, an upvalue, a constant,
 * a method, or another register, which is then resolved in the same way. The iterator of a `for`
 * loop is named after the call that wrote its register. Other instructions call only through
 * metamethods. bytecode_puc.c has the differences between releases as data.
 */
#include "puc/call_site_puc.h"

#include <errno.h>
#include <string.h>

#include "puc/bytecode_puc.h"
#include "puc/proto_puc.h"

/*
 * Limit of one look-up, in instructions: four passes over the largest function. Compiled code takes
 * three passes at most; a chain of moves made by hand can take hundreds.
 */
#define STEPS_MAX  (16U << 20)
#define READ_STEPS 1000 /* one read from the target counts as this many */

#define NOWHERE -1 /* no instruction */

_Static_assert(sizeof(((struct call_site *)0)->name) == PROTO_PUC_NAME_SIZE, "names fit");

struct search {
	struct proto_puc proto;
	const struct bytecode_puc *bytecode;
	int64_t call_pc;
	int64_t steps_left;
};

static uint32_t a_of(const struct search *search, uint32_t word)
{
	return bytecode_field__get(search->bytecode->a, word);
}

static uint32_t b_of(const struct search *search, uint32_t word)
{
	return bytecode_field__get(search->bytecode->b, word);
}

static uint32_t c_of(const struct search *search, uint32_t word)
{
	return bytecode_field__get(search->bytecode->c, word);
}

static bool writes_register(const struct search *search, const struct bytecode_op *op,
			    uint32_t word, uint32_t reg)
{
	uint32_t a = a_of(search, word);

	switch ((enum bytecode_writes)op->writes) {
	case WRITES_NOTHING:
		return false;
	case WRITES_A:
		return reg == a;
	case WRITES_A_AND_NEXT:
		return reg == a || reg == a + 1;
	case WRITES_A_TO_B:
		return reg >= a && reg <= b_of(search, word);
	case WRITES_A_PLUS_B:
		return reg >= a && reg <= a + b_of(search, word);
	case WRITES_FROM_A:
		return reg >= a;
	case WRITES_FROM_A_PLUS_2:
		return reg >= a + 2;
	}
	return false;
}

/*
 * How many words after the CLOSURE `word` only list what it captures. They look like MOVE and
 * GETUPVAL into register 0 (lparser.c of 5.1, pushclosure), so a search for the writer of any other
 * register need not skip them.
 */
static int count_captures(struct search *search, uint32_t word, uint32_t reg)
{
	if (reg != 0)
		return 0;
	search->steps_left -= READ_STEPS;
	return proto_puc__captures(&search->proto, bytecode_field__get(search->bytecode->bx, word));
}

/*
 * Advances *pc to the next instruction, in a search that ends at `last_pc`. Code before
 * *conditional_until may have been skipped by a jump.
 */
static int step(struct search *search, const struct bytecode_op *op, uint32_t reg, int64_t last_pc,
		int64_t *pc, int64_t *conditional_until)
{
	uint32_t word = search->proto.code[*pc];
	int64_t target;
	int count;

	++*pc;
	switch ((enum bytecode_flow)op->flow) {
	case FLOW_NEXT:
		break;
	case FLOW_JUMP:
		target = *pc + bytecode_field__get(search->bytecode->jump, word) -
			 search->bytecode->jump_zero;
		if (target < *pc || target > last_pc)
			break;
		if (search->bytecode->follows_jumps)
			*pc = target;
		else if (target > *conditional_until)
			*conditional_until = target;
		break;
	case FLOW_COUNT:
		*pc += c_of(search, word) == 0;
		break;
	case FLOW_CAPTURES:
		count = count_captures(search, word, reg);
		if (count < 0)
			return count;
		*pc += count;
		break;
	}
	return 0;
}

/* Finds the last write to `reg` before `last_pc`; NOWHERE: none, or a jump may have skipped it. */
static int find_writer(struct search *search, int64_t last_pc, uint32_t reg, int64_t *writer)
{
	const struct bytecode_op *op;
	int64_t conditional_until = 0;
	int64_t pc = 0;
	int error;

	*writer = NOWHERE;
	while (pc < last_pc) {
		uint32_t word = search->proto.code[pc];

		op = bytecode_puc__op(search->bytecode, word);
		if (!op || --search->steps_left < 0)
			return -EINVAL;
		if (writes_register(search, op, word, reg))
			*writer = pc < conditional_until ? NOWHERE : pc;
		error = step(search, op, reg, last_pc, &pc, &conditional_until);
		if (error)
			return error;
	}
	return 0;
}

/* Converts the result of a proto_puc__ function into a name of this kind, or into no name. */
static int set_name(struct call_site *site, enum call_site_kind kind, int found)
{
	site->kind = found > 0 ? kind : CALL_SITE_UNKNOWN;
	return found < 0 ? found : 0;
}

static int name_constant(struct search *search, uint32_t index, struct call_site *site)
{
	return set_name(site, CALL_SITE_CONSTANT,
			proto_puc__constant(&search->proto, index, site->name));
}

/* Names the value that the instruction at `pc` loaded, unless it came from a table. */
static int name_loaded(struct search *search, int64_t pc, struct call_site *site)
{
	const struct bytecode_puc *bytecode = search->bytecode;
	uint32_t word = search->proto.code[pc];

	switch ((enum bytecode_source)bytecode_puc__op(bytecode, word)->source) {
	case SOURCE_UPVALUE:
		return set_name(site, CALL_SITE_UPVALUE,
				proto_puc__upvalue(&search->proto, b_of(search, word), site->name));
	case SOURCE_CONSTANT:
		return name_constant(search, bytecode_field__get(bytecode->bx, word), site);
	case SOURCE_EXTRA_CONSTANT:
		/* The writer precedes the call, so there is a next word. */
		word = search->proto.code[pc + 1];
		return name_constant(search, bytecode_field__get(bytecode->ax, word), site);
	default:
		return 0;
	}
}

/*
 * Names the value of `reg` as of *pc, by variables and constants alone. If it has no such name, *pc
 * becomes the instruction that wrote it, or NOWHERE.
 */
static int name_variable(struct search *search, int64_t *pc, uint32_t reg, struct call_site *site)
{
	const struct bytecode_op *op;
	int64_t writer;
	uint32_t word;
	int error;

	/* Each MOVE leads to a lower register, so this ends. */
	for (;;) {
		error = set_name(site, CALL_SITE_LOCAL,
				 proto_puc__local(&search->proto, reg, *pc, site->name));
		if (error || site->kind != CALL_SITE_UNKNOWN)
			return error;
		error = find_writer(search, *pc, reg, &writer);
		*pc = writer;
		if (error || writer == NOWHERE)
			return error;
		word = search->proto.code[writer];
		op = bytecode_puc__op(search->bytecode, word);
		if (op->source != SOURCE_REGISTER || b_of(search, word) >= a_of(search, word))
			return name_loaded(search, writer, site);
		reg = b_of(search, word);
		if (search->bytecode->names_moves_at_call)
			*pc = search->call_pc;
	}
}

/* Names the key of the field that the instruction at `pc` loads: "?" if it is not constant. */
static int name_key(struct search *search, int64_t pc, char name[PROTO_PUC_NAME_SIZE])
{
	const struct bytecode_puc *bytecode = search->bytecode;
	uint32_t word = search->proto.code[pc];
	struct call_site key = {.kind = CALL_SITE_UNKNOWN};
	enum bytecode_key where = bytecode_puc__op(bytecode, word)->key;
	int error;

	if (where == KEY_INTEGER) {
		strcpy(name, "integer index");
		return 0;
	}
	if (where == KEY_EITHER)
		where = bytecode_field__get(bytecode->key_is_constant, word) ? KEY_CONSTANT
									     : KEY_REGISTER;
	/* If C has nine bits, the highest is key_is_constant, tested above. */
	if (where == KEY_CONSTANT)
		error = name_constant(search, c_of(search, word) & 0xff, &key);
	else
		error = name_variable(search, &pc, c_of(search, word), &key);
	strcpy(name, key.kind == CALL_SITE_CONSTANT ? key.name : "?");
	return error;
}

/* Whether the table that the instruction at `pc` takes a field from is the environment. */
static int find_environment(struct search *search, int64_t pc, bool is_upvalue, bool *answer)
{
	struct call_site table = {.kind = CALL_SITE_UNKNOWN};
	uint32_t index = b_of(search, search->proto.code[pc]);
	int error = 0;

	if (search->bytecode->environment == ENVIRONMENT_NONE)
		table.kind = CALL_SITE_UNKNOWN;
	else if (is_upvalue)
		error = set_name(&table, CALL_SITE_UPVALUE,
				 proto_puc__upvalue(&search->proto, index, table.name));
	else if (search->bytecode->environment == ENVIRONMENT_LOCAL)
		error = set_name(&table, CALL_SITE_LOCAL,
				 proto_puc__local(&search->proto, index, pc, table.name));
	else
		error = name_variable(search, &pc, index, &table);
	*answer = (table.kind == CALL_SITE_LOCAL || table.kind == CALL_SITE_UPVALUE) &&
		  strcmp(table.name, "_ENV") == 0;
	return error;
}

/* Names the value that the instruction at `pc` loaded from a table. */
static int name_field(struct search *search, int64_t pc, struct call_site *site)
{
	uint32_t word = search->proto.code[pc];
	enum bytecode_source source = bytecode_puc__op(search->bytecode, word)->source;
	bool is_global = true;
	int error;

	switch (source) {
	case SOURCE_GLOBAL:
		word = bytecode_field__get(search->bytecode->bx, word);
		return set_name(site, CALL_SITE_GLOBAL,
				proto_puc__constant(&search->proto, word, site->name));
	case SOURCE_UPVALUE_TABLE:
	case SOURCE_TABLE:
		error = find_environment(search, pc, source == SOURCE_UPVALUE_TABLE, &is_global);
		if (error)
			return error;
		site->kind = is_global ? CALL_SITE_GLOBAL : CALL_SITE_FIELD;
		return name_key(search, pc, site->name);
	case SOURCE_METHOD:
		site->kind = CALL_SITE_METHOD;
		return name_key(search, pc, site->name);
	default:
		return 0;
	}
}

static int name_register(struct search *search, uint32_t reg, struct call_site *site)
{
	int64_t pc = search->call_pc;
	int error = name_variable(search, &pc, reg, site);

	if (error || site->kind != CALL_SITE_UNKNOWN || pc == NOWHERE)
		return error;
	return name_field(search, pc, site);
}

/*
 * Names the iterator in `reg` after the instruction that wrote it. At the call of the iterator,
 * `reg` is the hidden variable "(for state)" or "(for generator)", so its name says nothing.
 */
static int name_iterator(struct search *search, uint32_t reg, struct call_site *site)
{
	const struct bytecode_op *op;
	bool is_made = false;
	int64_t writer;
	int error = find_writer(search, search->call_pc, reg, &writer);

	if (!error && writer != NOWHERE) {
		op = bytecode_puc__op(search->bytecode, search->proto.code[writer]);
		is_made = op->calls == CALLS_REGISTER &&
			  a_of(search, search->proto.code[writer]) == reg;
		search->call_pc = is_made ? writer : writer + 1;
		error = name_register(search, reg, site);
	}
	if (!error)
		call_site__name_iterator(site, is_made);
	return error;
}

static int name_event(struct search *search, uint32_t event, struct call_site *site)
{
	const char *name = bytecode_puc__event(search->bytecode, event);

	if (!name)
		return -EINVAL;
	site->kind = CALL_SITE_METAMETHOD;
	strcpy(site->name, name);
	return 0;
}

static int name_call(struct search *search, struct call_site *site)
{
	uint32_t word = search->proto.code[search->call_pc];
	const struct bytecode_op *op = bytecode_puc__op(search->bytecode, word);

	if (!op)
		return -EINVAL;
	switch ((enum bytecode_calls)op->calls) {
	case CALLS_NOTHING:
		return 0;
	case CALLS_REGISTER:
		return name_register(search, a_of(search, word), site);
	case CALLS_ITERATOR:
		return name_iterator(search, a_of(search, word), site);
	case CALLS_EVENT:
		return name_event(search, op->event, site);
	case CALLS_EVENT_C:
		return name_event(search, EVENT_INDEX + c_of(search, word), site);
	}
	return 0;
}

int call_site_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			uint64_t caller, uint32_t pc, struct call_site *site)
{
	struct search search = {
		.bytecode = bytecode_puc__of(layout->minor),
		.call_pc = pc,
		.steps_left = STEPS_MAX,
	};
	int error;

	memset(site, 0, sizeof(*site));
	if (!search.bytecode)
		return -EINVAL;
	error = proto_puc__open(&search.proto, memory, layout, caller, pc);
	if (error)
		goto cleanup;
	error = name_call(&search, site);
	site->is_covered = !search.proto.is_beyond_fingerprint;
cleanup:
	proto_puc__close(&search.proto);
	if (error || site->kind == CALL_SITE_UNKNOWN)
		memset(site, 0, sizeof(*site));
	return error;
}
