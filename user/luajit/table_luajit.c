/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/table_luajit.h"

#include <errno.h>
#include <string.h>

#include "luajit/prototype_luajit.h"
#include "offsets_luajit.h"

#define NODES_AT_ONCE 256
#define MASK_MAX      ((1U << 26) - 1) /* LJ_MAX_HBITS, lj_def.h */
#define BUILTIN_SHIFT 56               /* as in bpf/luajit/frame_luajit.bpf.h */

/* GCtab, lj_obj.h. */
struct table {
	ls_luajit_ref_t next;
	uint8_t marked, gct, no_metamethods, colocated;
	ls_luajit_ref_t array, gc_list, metatable, nodes;
	uint32_t array_size, mask;
};
_Static_assert(sizeof(struct table) == LS_LUAJIT_BYTES(56, 32), "GCtab, lj_obj.h, up to hmask");

/* Node, lj_obj.h. */
struct node {
	uint64_t value, key, next;
};

static struct table_value value_of(uint64_t word)
{
	return (struct table_value){.value = word & LS_LUAJIT_ADDRESS,
				    .tag = ~(uint32_t)(word >> LS_LUAJIT_TYPE_SHIFT) &
					   LS_LUAJIT_BYTES(0x1ffff, UINT32_MAX)};
}

static int read_table(const struct table_reader *reader, uint64_t address, struct table *table)
{
	int error = target_memory__read(reader->memory, address, table, sizeof(*table));

	if (error)
		return error;
	return table->gct == LS_LUAJIT_TABLE && table->mask <= MASK_MAX ? 0 : -EINVAL;
}

static int slots_of(const struct table_reader *reader, uint64_t address, size_t *slots)
{
	struct table table;
	int error = read_table(reader, address, &table);

	if (!error)
		*slots = table.mask + 1UL;
	return error;
}

static int metatable_of(const struct table_reader *reader, uint64_t address, uint64_t *metatable)
{
	struct table table;
	int error = read_table(reader, address, &table);

	*metatable = error ? 0 : table.metatable;
	return error;
}

/* Reads a key. 0; -EINVAL: not a string that could be a name; other -errno. */
static int read_key(const struct table_reader *reader, uint64_t address, char key[TABLE_KEY_SIZE])
{
	uint32_t length;
	uint64_t text;
	int error =
		prototype_luajit__string(reader->memory, reader->offsets, address, &length, &text);

	if (error)
		return error;
	length = length < TABLE_KEY_SIZE ? length : TABLE_KEY_SIZE - 1;
	error = target_memory__read(reader->memory, text, key, length);
	if (error)
		return error;
	key[length] = '\0';
	return length && strlen(key) == length ? 0 : -EINVAL;
}

static int visit_node(const struct table_reader *reader, const struct node *node,
		      table_wants *wants, table_visit *visit, void *context)
{
	struct table_value value = value_of(node->value), key = value_of(node->key);
	char text[TABLE_KEY_SIZE];

	if (key.tag != LS_LUAJIT_STRING || !wants(reader, &value) ||
	    read_key(reader, key.value, text))
		return 0;
	return visit(context, text, &value);
}

static int each(struct table_reader *reader, uint64_t address, table_wants *wants,
		table_visit *visit, void *context)
{
	struct node nodes[NODES_AT_ONCE];
	struct table table;
	size_t slots, done = 0;
	int error = read_table(reader, address, &table);

	if (error)
		return error;
	slots = table.mask + 1UL;
	if (slots > reader->slots_left) {
		reader->cut_short = true;
		return -E2BIG;
	}
	reader->slots_left -= slots;
	while (done < slots && !error) {
		size_t count = slots - done < NODES_AT_ONCE ? slots - done : NODES_AT_ONCE;

		error = target_memory__read(reader->memory, table.nodes + done * sizeof(*nodes),
					    nodes, count * sizeof(*nodes));
		for (size_t i = 0; i < count && !error; i++)
			error = visit_node(reader, &nodes[i], wants, visit, context);
		done += count;
	}
	return error;
}

/* ---- functions */

static enum value_kind kind_of(const struct table_reader *reader, const struct table_value *value)
{
	(void)reader;
	if (value->tag == LS_LUAJIT_FUNCTION)
		return VALUE_FUNCTION;
	return value->tag == LS_LUAJIT_TABLE ? VALUE_TABLE : VALUE_OTHER;
}

static int read_function(const struct table_reader *reader, const struct table_value *value,
			 struct ls_luajit_function *function)
{
	if (value->tag != LS_LUAJIT_FUNCTION)
		return -EINVAL;
	return target_memory__read(reader->memory, value->value, function, sizeof(*function));
}

/*
 * coroutine.wrap() returns a closure over a coroutine. A script that stores it names that
 * coroutine, not the builtin that all such closures call.
 */
static bool wraps_coroutine(const struct table_reader *reader, uint64_t closure)
{
	uint64_t upvalue;

	return !target_memory__read(reader->memory, closure + sizeof(struct ls_luajit_function),
				    &upvalue, sizeof(upvalue)) &&
	       value_of(upvalue).tag == LS_LUAJIT_THREAD;
}

static uint64_t c_function_of(const struct table_reader *reader, const struct table_value *value,
			      uint64_t *instance)
{
	struct ls_luajit_function function;

	*instance = 0;
	if (read_function(reader, value, &function) || function.ffid == LS_LUAJIT_FF_LUA)
		return 0;
	if (function.ffid > LS_LUAJIT_FF_C)
		function.function |= (uint64_t)function.ffid << BUILTIN_SHIFT;
	if (!function.upvalue_count)
		return function.function;
	if (wraps_coroutine(reader, value->value))
		return 0;
	/* The closures of a builtin are all the same function. */
	if (function.ffid == LS_LUAJIT_FF_C)
		*instance = value->value;
	return function.function;
}

static uint64_t prototype_of(const struct table_reader *reader, const struct table_value *value)
{
	struct ls_luajit_function function;

	if (read_function(reader, value, &function) || function.ffid != LS_LUAJIT_FF_LUA)
		return 0;
	return function.pc - sizeof(struct ls_luajit_proto);
}

/* ---- roots */

/* The globals are the environment of the main thread. */
static int open_tables(struct table_reader *reader, uint64_t address, struct vm_roots *roots)
{
	const struct ls_luajit_layout *layout = reader->offsets;
	struct ls_luajit_state state;
	struct table_value registry;
	ls_luajit_ref_t main_thread;
	uint64_t word;
	int error = target_memory__read(reader->memory, address, &state, sizeof(state));

	if (!error)
		error = target_memory__read(reader->memory, state.global + layout->global_registry,
					    &word, sizeof(word));
	if (error)
		return error;
	registry = value_of(word);
	if (registry.tag != LS_LUAJIT_TABLE)
		return -EFAULT;
	roots->registry = registry.value;
	if (!target_memory__read(reader->memory, state.global + layout->global_main_thread,
				 &main_thread, sizeof(main_thread)) &&
	    !target_memory__read(reader->memory, main_thread, &state, sizeof(state)))
		roots->globals = state.environment;
	return 0;
}

const struct table_ops table_ops_luajit = {
	.open = open_tables,
	.kind = kind_of,
	.c_function = c_function_of,
	.prototype = prototype_of,
	.slots = slots_of,
	.metatable = metatable_of,
	.each = each,
};
