/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/definition_scan_puc.h"

#include <errno.h>
#include <stdlib.h>

/* ---- nodes */

static uint32_t add_node(struct definition_scan *scan, const struct definition_node *node)
{
	struct definition_node *nodes;
	uint32_t room;

	if (scan->node_count == scan->node_room) {
		room = scan->node_room ? 2 * scan->node_room : 256;
		nodes = reallocarray(scan->nodes, room, sizeof(*nodes));
		if (!nodes) {
			scan->error = -ENOMEM;
			return UNKNOWN;
		}
		scan->nodes = nodes;
		scan->node_room = room;
	}
	scan->nodes[scan->node_count] = *node;
	return scan->node_count++;
}

static uint32_t add_item(struct definition_scan *scan, enum definition_node_kind kind,
			 uint32_t index)
{
	return add_node(scan, &(struct definition_node){.kind = kind, .index = index});
}

static uint32_t add_field(struct definition_scan *scan, uint32_t table, uint32_t key)
{
	return add_node(scan,
			&(struct definition_node){.kind = NODE_FIELD, .around = table, .key = key});
}

/* Whether it is made here, and nothing has been done with it yet. */
static bool is_fresh(const struct definition_scan *scan, uint32_t node)
{
	const struct definition_node *made = &scan->nodes[node];

	return (made->kind == NODE_TABLE || made->kind == NODE_FUNCTION) && made->around == UNKNOWN;
}

static void store_node(struct definition_scan *scan, uint32_t node, uint32_t target)
{
	if (!is_fresh(scan, node))
		return;
	scan->nodes[node].around = target;
	scan->nodes[node].pc = scan->pc;
}

/* ---- registers */

static uint32_t value_in(struct definition_scan *scan, uint32_t reg)
{
	if (reg < scan->live_count)
		return add_item(scan, NODE_LOCAL, scan->live[reg]);
	return scan->registers[reg % SCAN_REGISTERS];
}

/* A value written to a local variable is stored there; other registers keep it for what follows. */
static void write_register(struct definition_scan *scan, uint32_t reg, uint32_t node)
{
	reg %= SCAN_REGISTERS;
	if (reg < scan->live_count) {
		if (is_fresh(scan, node))
			store_node(scan, node, add_item(scan, NODE_LOCAL, scan->live[reg]));
		return;
	}
	scan->registers[reg] = node;
	scan->written[reg] = scan->pc;
	if (reg >= scan->used)
		scan->used = reg + 1;
}

static void clear_registers(struct definition_scan *scan, uint32_t first, uint32_t count)
{
	for (uint32_t reg = first; reg < first + count && reg < scan->used; reg++)
		write_register(scan, reg, UNKNOWN);
}

/* A variable has no value of a temporary register: what is stored from one is not defined there. */
static void store_register(struct definition_scan *scan, uint32_t reg, uint32_t target)
{
	if (reg < scan->live_count || reg >= SCAN_REGISTERS)
		return;
	store_node(scan, scan->registers[reg], target);
	scan->registers[reg] = UNKNOWN;
}

/* Arguments, results and items of lists: functions among them have no name, fields of tables do. */
static void use_registers(struct definition_scan *scan, uint32_t first)
{
	for (uint32_t reg = first; reg < scan->used; reg++) {
		if (reg < scan->live_count)
			continue;
		if (scan->nodes[scan->registers[reg]].kind == NODE_TABLE)
			store_node(scan, scan->registers[reg], NAMELESS);
		scan->registers[reg] = UNKNOWN;
	}
}

/* ---- local variables and jumps */

/* Variables begin in the next register, which has their first value, and end in reverse. */
static void update_locals(struct definition_scan *scan)
{
	const struct local_var_puc *locals = scan->locals;
	int64_t pc = scan->pc;

	while (scan->live_count && locals[scan->live[scan->live_count - 1]].end_pc <= pc)
		scan->registers[--scan->live_count] = UNKNOWN;
	for (; scan->next_local < scan->proto->local_count; scan->next_local++) {
		uint32_t local = scan->next_local, reg = scan->live_count;

		if (locals[local].start_pc > pc || reg == SCAN_REGISTERS)
			break;
		if (locals[local].end_pc <= pc)
			continue;
		if (is_fresh(scan, scan->registers[reg]))
			store_node(scan, scan->registers[reg], add_item(scan, NODE_LOCAL, local));
		scan->registers[reg] = UNKNOWN;
		scan->live[scan->live_count++] = local;
	}
}

/*
 * Where a jump ends, what was written behind it is one of several values: "(x or y).f". Functions
 * and tables stay: "x = x or function" is called x.
 */
static void forget_skipped(struct definition_scan *scan)
{
	uint32_t source = scan->jumped_from[scan->pc];

	for (uint32_t reg = scan->live_count; source && reg < scan->used; reg++)
		if (scan->written[reg] >= source && !is_fresh(scan, scan->registers[reg]))
			scan->registers[reg] = UNKNOWN;
}

/* The instruction behind `pc` and the words that belong to it; `captures`: those of a CLOSURE. */
static uint32_t next_pc(const struct definition_scan *scan, const struct bytecode_op *op,
			uint32_t pc, int captures)
{
	uint32_t word = scan->proto->code[pc++];

	if (op->flow == FLOW_COUNT && !bytecode_field__get(scan->bytecode->c, word))
		pc++;
	return pc + (uint32_t)captures;
}

static int note_jumps(struct definition_scan *scan)
{
	const struct proto_puc *proto = scan->proto;
	const struct bytecode_op *op;

	for (uint32_t pc = 0; pc < proto->code_count; pc = next_pc(scan, op, pc, 0)) {
		int64_t target;

		op = bytecode_puc__op(scan->bytecode, proto->code[pc]);
		if (!op)
			return -EINVAL;
		if (op->flow != FLOW_JUMP)
			continue;
		target = (int64_t)pc + 1 +
			 bytecode_field__get(scan->bytecode->jump, proto->code[pc]) -
			 scan->bytecode->jump_zero;
		if (target > pc && target < proto->code_count && !scan->jumped_from[target])
			scan->jumped_from[target] = pc + 1;
	}
	return 0;
}

/* ---- instructions */

static uint32_t stored_key(struct definition_scan *scan, const struct bytecode_op *op,
			   uint32_t word)
{
	uint32_t b = bytecode_field__get(scan->bytecode->b, word);

	switch ((enum bytecode_key)op->store_key) {
	case KEY_CONSTANT:
		return add_item(scan, NODE_CONSTANT, b);
	case KEY_REGISTER:
		return value_in(scan, b);
	case KEY_EITHER:
		if (bytecode_field__get(scan->bytecode->b_is_constant, word))
			return add_item(scan, NODE_CONSTANT, b & 0xff);
		return value_in(scan, b);
	default:
		return UNKNOWN;
	}
}

static uint32_t loaded_key(struct definition_scan *scan, const struct bytecode_op *op,
			   uint32_t word)
{
	uint32_t c = bytecode_field__get(scan->bytecode->c, word);

	switch ((enum bytecode_key)op->key) {
	case KEY_CONSTANT:
		return add_item(scan, NODE_CONSTANT, c & 0xff);
	case KEY_REGISTER:
		return value_in(scan, c);
	case KEY_EITHER:
		if (bytecode_field__get(scan->bytecode->key_is_constant, word))
			return add_item(scan, NODE_CONSTANT, c & 0xff);
		return value_in(scan, c);
	default:
		return UNKNOWN;
	}
}

static void store(struct definition_scan *scan, const struct bytecode_op *op, uint32_t word)
{
	const struct bytecode_puc *bytecode = scan->bytecode;
	uint32_t a = bytecode_field__get(bytecode->a, word);
	uint32_t b = bytecode_field__get(bytecode->b, word);
	uint32_t c = bytecode_field__get(bytecode->c, word);
	bool is_constant = bytecode_field__get(bytecode->key_is_constant, word);
	bool is_field = op->stores == STORES_FIELD || op->stores == STORES_UPVALUE_FIELD;
	uint32_t value = is_field ? c : a, table;

	if ((is_field && is_constant) || value >= SCAN_REGISTERS ||
	    !is_fresh(scan, scan->registers[value]))
		return;
	switch ((enum bytecode_stores)op->stores) {
	case STORES_NOTHING:
		break;
	case STORES_GLOBAL:
		store_register(
			scan, value,
			add_item(scan, NODE_GLOBAL, bytecode_field__get(bytecode->bx, word)));
		break;
	case STORES_UPVALUE:
		store_register(scan, value, add_item(scan, NODE_UPVALUE, b));
		break;
	case STORES_UPVALUE_FIELD:
	case STORES_FIELD:
		table = op->stores == STORES_FIELD ? value_in(scan, a)
						   : add_item(scan, NODE_UPVALUE, a);
		store_register(scan, value, add_field(scan, table, stored_key(scan, op, word)));
		break;
	}
}

/* The node of the value that the instruction loads into A. */
static uint32_t loaded(struct definition_scan *scan, const struct bytecode_op *op, uint32_t word)
{
	const struct bytecode_puc *bytecode = scan->bytecode;
	uint32_t b = bytecode_field__get(bytecode->b, word);
	uint32_t bx = bytecode_field__get(bytecode->bx, word);

	switch ((enum bytecode_source)op->source) {
	case SOURCE_REGISTER:
		return value_in(scan, b);
	case SOURCE_CONSTANT:
		return add_item(scan, NODE_CONSTANT, bx);
	case SOURCE_EXTRA_CONSTANT:
		if (scan->pc + 1 >= scan->proto->code_count)
			return UNKNOWN;
		word = scan->proto->code[scan->pc + 1];
		return add_item(scan, NODE_CONSTANT, bytecode_field__get(bytecode->ax, word));
	case SOURCE_GLOBAL:
		return add_item(scan, NODE_GLOBAL, bx);
	case SOURCE_UPVALUE:
		return add_item(scan, NODE_UPVALUE, b);
	case SOURCE_UPVALUE_TABLE:
		return add_field(scan, add_item(scan, NODE_UPVALUE, b), loaded_key(scan, op, word));
	case SOURCE_TABLE:
		return add_field(scan, value_in(scan, b), loaded_key(scan, op, word));
	default:
		return UNKNOWN;
	}
}

/* A function that two instructions make has two definitions: no compiler does that. */
static void make_function(struct definition_scan *scan, uint32_t reg, uint32_t index)
{
	uint32_t node = add_item(scan, NODE_FUNCTION, index);

	if (index >= scan->proto->nested_count)
		scan->error = -EINVAL;
	if (scan->error)
		return;
	write_register(scan, reg, node);
	if (scan->functions[index] == UNKNOWN)
		scan->functions[index] = node;
	else
		scan->functions[index] = NAMELESS;
}

static void write_registers(struct definition_scan *scan, const struct bytecode_op *op,
			    uint32_t word)
{
	uint32_t a = bytecode_field__get(scan->bytecode->a, word);
	uint32_t b = bytecode_field__get(scan->bytecode->b, word);

	switch ((enum bytecode_writes)op->writes) {
	case WRITES_NOTHING:
		break;
	case WRITES_A:
		if (op->makes == MAKES_FUNCTION)
			make_function(scan, a, bytecode_field__get(scan->bytecode->bx, word));
		else if (op->makes == MAKES_TABLE)
			write_register(scan, a, add_item(scan, NODE_TABLE, 0));
		else
			write_register(scan, a, loaded(scan, op, word));
		break;
	case WRITES_A_AND_NEXT:
		clear_registers(scan, a, 2);
		break;
	case WRITES_A_TO_B:
		clear_registers(scan, a, b >= a ? b - a + 1 : 0);
		break;
	case WRITES_A_PLUS_B:
		clear_registers(scan, a, b + 1);
		break;
	case WRITES_FROM_A:
		clear_registers(scan, a, SCAN_REGISTERS);
		write_register(scan, a, NAMELESS);
		break;
	case WRITES_FROM_A_PLUS_2:
		clear_registers(scan, a + 2, SCAN_REGISTERS);
		break;
	}
}

static void interpret(struct definition_scan *scan, const struct bytecode_op *op, uint32_t word)
{
	uint32_t a = bytecode_field__get(scan->bytecode->a, word);

	if (op->uses)
		use_registers(scan, op->uses == USES_FROM_A ? a : a + 1);
	if (op->stores)
		store(scan, op, word);
	write_registers(scan, op, word);
}

static int count_captures(struct definition_scan *scan, const struct bytecode_op *op, uint32_t word)
{
	if (op->flow != FLOW_CAPTURES)
		return 0;
	return proto_puc__captures(scan->proto, bytecode_field__get(scan->bytecode->bx, word));
}

static int scan_code(struct definition_scan *scan)
{
	const struct proto_puc *proto = scan->proto;
	uint32_t next;

	for (scan->pc = 0; scan->pc < proto->code_count && !scan->error; scan->pc = next) {
		uint32_t word = proto->code[scan->pc];
		const struct bytecode_op *op = bytecode_puc__op(scan->bytecode, word);
		int captures = op ? count_captures(scan, op, word) : -EINVAL;

		if (captures < 0)
			return captures;
		update_locals(scan);
		forget_skipped(scan);
		interpret(scan, op, word);
		next = next_pc(scan, op, scan->pc, captures);
	}
	return scan->error;
}

int definition_scan__run(struct definition_scan *scan, struct proto_puc *proto,
			 const struct bytecode_puc *bytecode)
{
	int error;

	*scan = (struct definition_scan){.proto = proto, .bytecode = bytecode};
	scan->locals = calloc(proto->local_count + 1U, sizeof(*scan->locals));
	scan->jumped_from = calloc(proto->code_count, sizeof(*scan->jumped_from));
	scan->functions = calloc(proto->nested_count + 1U, sizeof(*scan->functions));
	if (!scan->locals || !scan->jumped_from || !scan->functions)
		return -ENOMEM;
	add_item(scan, NODE_UNKNOWN, 0);
	add_item(scan, NODE_NAMELESS, 0);
	error = scan->error;
	if (!error)
		error = proto_puc__locals(proto, scan->locals);
	if (!error)
		error = note_jumps(scan);
	return error ? error : scan_code(scan);
}

void definition_scan__close(struct definition_scan *scan)
{
	free(scan->locals);
	free(scan->jumped_from);
	free(scan->functions);
	free(scan->nodes);
}
