/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/family_puc.h"

#include <errno.h>
#include <string.h>

#include "offsets_puc.h"
#include "tags_puc.h"

/* Arrays of Nodes are read this many bytes at a time. */
#define CHUNK_SIZE     8192
#define LOG_SLOTS_MAX  26 /* MAXHSIZE of a 64-bit machine, ltable.c */
#define VALUE_SIZE     16
#define TABLE_SIZE_MAX 72
#define STRING_HEADER  24 /* of every TString; 5.3.0 has eight more bytes before the text */
#define RIDX_GLOBALS   2  /* lua.h, since 5.2 */

/* lobject.h: Table and Node, which change with the minor version only. */
struct table_puc_layout {
	uint8_t minor;
	uint8_t table_size;
	uint8_t log_slots; /* lsizenode */
	uint8_t array_count;
	uint8_t array;
	uint8_t node;
	uint8_t metatable;
	uint8_t last_free; /* points past the last node, or to one; 0: not checked */
	uint8_t node_size; /* a Node starts with its value */
	uint8_t key;
	uint8_t key_tag;
	uint8_t tag_size; /* of both tags, in bytes; the value's tag follows its 8 bytes */
};

/* Up to 5.3, a Node is a TValue, then a TKey that begins like a TValue. */
#define KEY_IS_VALUE .key = 16, .key_tag = 24, .tag_size = 4
/* Since 5.4, the key's tag is in the padding after the value's tag. */
#define KEY_IS_PACKED .node_size = 24, .key = 16, .key_tag = 9, .tag_size = 1

static const struct table_puc_layout layouts[] = {
	{.minor = 1,
	 .table_size = 64,
	 .log_slots = 11,
	 .array_count = 56,
	 .array = 24,
	 .node = 32,
	 .metatable = 16,
	 .last_free = 40,
	 .node_size = 40,
	 KEY_IS_VALUE},
	/* Redis 7.0: an int `readonly` before lsizenode. */
	{.minor = 1,
	 .table_size = 72,
	 .log_slots = 16,
	 .array_count = 64,
	 .array = 32,
	 .node = 40,
	 .metatable = 24,
	 .last_free = 48,
	 .node_size = 40,
	 KEY_IS_VALUE},
	{.minor = 2,
	 .table_size = 56,
	 .log_slots = 11,
	 .array_count = 12,
	 .array = 16,
	 .node = 24,
	 .metatable = 40,
	 .node_size = 40,
	 KEY_IS_VALUE},
	{.minor = 3,
	 .table_size = 56,
	 .log_slots = 11,
	 .array_count = 12,
	 .array = 16,
	 .node = 24,
	 .metatable = 40,
	 .node_size = 32,
	 KEY_IS_VALUE},
	{.minor = 4,
	 .table_size = 56,
	 .log_slots = 11,
	 .array_count = 12,
	 .array = 16,
	 .node = 24,
	 .metatable = 40,
	 KEY_IS_PACKED},
	/* The array part has no TValues: values grow downwards, and tags upwards. */
	{.minor = 5,
	 .table_size = 48,
	 .log_slots = 11,
	 .array_count = 12,
	 .array = 16,
	 .node = 24,
	 .metatable = 32,
	 KEY_IS_PACKED},
};

#define LAYOUT_COUNT (sizeof(layouts) / sizeof(layouts[0]))

static uint64_t load(const void *from, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, from, size);
	return value;
}

static struct table_value load_value(const struct table_puc_layout *layout, const uint8_t *from)
{
	return (struct table_value){.value = load(from, 8),
				    .tag = (uint32_t)load(from + 8, layout->tag_size)};
}

static const struct ls_puc_layout *offsets_of(const struct table_reader *reader)
{
	return reader->offsets;
}

static const struct table_puc_layout *layout_of(const struct table_reader *reader)
{
	return reader->table_layout;
}

/* Checks `lastfree` in particular, whose value depends on other fields. */
static bool looks_right(const struct table_puc_layout *layout, const uint8_t *header)
{
	uint64_t node = load(header + layout->node, 8);
	uint64_t slots = (uint64_t)1 << (header[layout->log_slots] & 31);
	uint64_t free = load(header + layout->last_free, 8) - node + layout->node_size;

	/* lastfree is between one before the first node and one past the last. */
	return header[LS_OBJECT_TAG] == LS_TYPE_TABLE &&
	       header[layout->log_slots] <= LOG_SLOTS_MAX && node &&
	       free <= (slots + 1) * layout->node_size && free % layout->node_size == 0;
}

/* Adapts to a VM with a table layout of its own (Redis), judging by the contents of `table`. */
static void adapt(struct table_reader *reader, uint64_t table)
{
	uint8_t header[TABLE_SIZE_MAX];

	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		if (layouts[i].minor == offsets_of(reader)->minor && layouts[i].last_free &&
		    !target_memory__read(reader->memory, table, header, layouts[i].table_size) &&
		    looks_right(&layouts[i], header)) {
			reader->table_layout = &layouts[i];
			return;
		}
	}
}

static bool is_table(const struct table_reader *reader, const struct table_value *value)
{
	return value->tag ==
	       (offsets_of(reader)->minor == 1 ? LS_TYPE_TABLE : (LS_TYPE_TABLE | LS_COLLECTABLE));
}

/* Reads the TValue at `address`. 0 or -errno. */
static int read_value(const struct table_reader *reader, uint64_t address,
		      struct table_value *value)
{
	const struct table_puc_layout *layout = layout_of(reader);
	uint8_t bytes[VALUE_SIZE];
	int error = target_memory__read(reader->memory, address, bytes, sizeof(bytes));

	if (!error)
		*value = load_value(layout, bytes);
	return error;
}

static int read_header(const struct table_reader *reader, uint64_t table,
		       uint8_t header[TABLE_SIZE_MAX])
{
	const struct table_puc_layout *layout = layout_of(reader);
	int error;

	error = target_memory__read(reader->memory, table, header, layout->table_size);
	if (error)
		return error;
	if (header[LS_OBJECT_TAG] != LS_TYPE_TABLE || header[layout->log_slots] > LOG_SLOTS_MAX)
		return -EINVAL;
	return 0;
}

static int slots_of(const struct table_reader *reader, uint64_t table, size_t *slots)
{
	uint8_t header[TABLE_SIZE_MAX];
	int error = read_header(reader, table, header);

	if (!error)
		*slots = (size_t)1 << header[layout_of(reader)->log_slots];
	return error;
}

static int metatable_of(const struct table_reader *reader, uint64_t table, uint64_t *metatable)
{
	uint8_t header[TABLE_SIZE_MAX];
	int error = read_header(reader, table, header);

	*metatable = error ? 0 : load(header + layout_of(reader)->metatable, 8);
	return error;
}

/* Reads element `index` (1..) of the array part. 0, -ENOENT (no such element), or -errno. */
static int read_element(const struct table_reader *reader, uint64_t table, unsigned int index,
			struct table_value *value)
{
	const struct table_puc_layout *layout = layout_of(reader);
	uint8_t header[TABLE_SIZE_MAX], tag = 0;
	uint64_t array;
	int error = read_header(reader, table, header);

	if (error)
		return error;
	if (index == 0 || index > load(header + layout->array_count, 4))
		return -ENOENT;
	array = load(header + layout->array, 8);
	if (offsets_of(reader)->minor < 5)
		return read_value(reader, array + (uint64_t)VALUE_SIZE * (index - 1), value);
	/* getArrVal() and getArrTag(), ltable.h: an unsigned int lies between the two. */
	error = target_memory__read(reader->memory, array - 8 * (uint64_t)index, &value->value, 8);
	if (!error)
		error = target_memory__read(reader->memory, array + 4 + (index - 1), &tag, 1);
	value->tag = tag;
	return error;
}

/* Reads a key. 0; -EINVAL: not a string that could be a name; other -errno. */
static int read_key(const struct table_reader *reader, uint64_t string, char key[TABLE_KEY_SIZE])
{
	const struct ls_puc_layout *layout = offsets_of(reader);
	uint64_t text = string + layout->string_contents, length;
	uint8_t header[STRING_HEADER];
	bool is_short;
	int error = target_memory__read(reader->memory, string, header, sizeof(header));

	if (!error && LS_TYPE(header[LS_OBJECT_TAG]) != LS_TYPE_STRING)
		error = -EINVAL;
	if (error)
		return error;
	is_short = layout->string_short_length && header[LS_OBJECT_TAG] != LS_TAG_LONG_STRING;
	memcpy(&length, header + layout->string_length, sizeof(length));
	if (is_short)
		length = header[layout->string_short_length];
	/* 5.5 has a pointer there in a long string, as its text may be outside the object. */
	else if (layout->minor >= 5)
		error = target_memory__read(reader->memory, text, &text, sizeof(text));
	if (length > TABLE_KEY_SIZE - 1)
		length = TABLE_KEY_SIZE - 1;
	if (!error)
		error = target_memory__read(reader->memory, text, key, length);
	if (error)
		return error;
	key[length] = '\0';
	return length && strlen(key) == length ? 0 : -EINVAL;
}

static int visit_node(const struct table_reader *reader, const uint8_t *node, table_wants *wants,
		      table_visit *visit, void *context)
{
	const struct table_puc_layout *layout = layout_of(reader);
	struct table_value value = load_value(layout, node);
	uint64_t key_tag = load(node + layout->key_tag, layout->tag_size);
	char key[TABLE_KEY_SIZE];

	/* A dead key has a tag of its own, and its value is nil. */
	if (value.tag == LS_TYPE_NIL || LS_TYPE(key_tag) != LS_TYPE_STRING ||
	    !wants(reader, &value) || read_key(reader, load(node + layout->key, 8), key))
		return 0;
	return visit(context, key, &value);
}

static int each(struct table_reader *reader, uint64_t table, table_wants *wants, table_visit *visit,
		void *context)
{
	const struct table_puc_layout *layout = layout_of(reader);
	uint8_t header[TABLE_SIZE_MAX], chunk[CHUNK_SIZE];
	int error = read_header(reader, table, header);
	uint64_t address;
	size_t slots, per_chunk;

	if (error)
		return error;
	slots = (size_t)1 << header[layout->log_slots];
	if (slots > reader->slots_left) {
		reader->cut_short = true;
		return -E2BIG;
	}
	reader->slots_left -= slots;
	address = load(header + layout->node, 8);
	per_chunk = sizeof(chunk) / layout->node_size;
	while (slots > 0 && !error) {
		size_t count = slots < per_chunk ? slots : per_chunk;

		error = target_memory__read(reader->memory, address, chunk,
					    count * layout->node_size);
		for (size_t i = 0; i < count && !error; i++)
			error = visit_node(reader, chunk + i * layout->node_size, wants, visit,
					   context);
		address += count * layout->node_size;
		slots -= count;
	}
	return error;
}

/* ---- functions */

static enum value_kind kind_of(const struct table_reader *reader, const struct table_value *value)
{
	const struct ls_puc_layout *layout = offsets_of(reader);

	if (value->tag == layout->tag_c_function || value->tag == layout->tag_lua_function ||
	    (layout->tag_light_function && value->tag == layout->tag_light_function))
		return VALUE_FUNCTION;
	return is_table(reader, value) ? VALUE_TABLE : VALUE_OTHER;
}

/*
 * What coroutine.wrap() returns is a C closure over a coroutine. A script that keeps one in a
 * global has named that coroutine, not the C function behind all of them.
 */
static bool wraps_coroutine(const struct table_reader *reader, uint64_t closure)
{
	const int thread = 8; /* LUA_TTHREAD, lua.h */
	uint64_t first = closure + offsets_of(reader)->closure_function + 8;
	uint8_t upvalue[16];

	return !target_memory__read(reader->memory, first, upvalue, sizeof(upvalue)) &&
	       (upvalue[8] & 15) == thread;
}

/* The address of the C function in `value`; 0: it has none, wraps a coroutine, or is unreadable. */
static uint64_t function_address(const struct table_reader *reader, const struct table_value *value,
				 uint64_t *instance)
{
	const struct ls_puc_layout *layout = offsets_of(reader);
	/* isC, if the release has it, precedes nupvalues. */
	size_t upvalues = layout->closure_is_c ? layout->closure_is_c + 1 : 10;
	uint8_t header[16];
	uint64_t function;

	*instance = 0;
	if (layout->tag_light_function && value->tag == layout->tag_light_function)
		return value->value;
	if (value->tag != layout->tag_c_function)
		return 0;
	if (upvalues >= sizeof(header) ||
	    target_memory__read(reader->memory, value->value, header, sizeof(header)) ||
	    (layout->closure_is_c && !header[layout->closure_is_c]) ||
	    target_memory__read(reader->memory, value->value + layout->closure_function, &function,
				sizeof(function)))
		return 0;
	if (!header[upvalues])
		return function;
	*instance = value->value;
	return wraps_coroutine(reader, value->value) ? 0 : function;
}

/* The prototype of the script function in `value`; 0: it is none, or cannot be read. */
static uint64_t prototype_address(const struct table_reader *reader,
				  const struct table_value *value)
{
	const struct ls_puc_layout *layout = offsets_of(reader);
	uint8_t header[16];
	uint64_t prototype;

	if (value->tag != layout->tag_lua_function ||
	    target_memory__read(reader->memory, value->value, header, sizeof(header)) ||
	    (layout->closure_is_c && header[layout->closure_is_c]) ||
	    target_memory__read(reader->memory, value->value + layout->closure_proto, &prototype,
				sizeof(prototype)))
		return 0;
	return prototype;
}

/* ---- roots */

/* Like lua_pushglobaltable(), which does not depend on package.loaded. */
static int find_globals(const struct table_reader *reader, uint64_t state, uint64_t registry,
			struct table_value *globals)
{
	const struct ls_puc_layout *layout = offsets_of(reader);

	if (layout->state_globals)
		return read_value(reader, state + layout->state_globals, globals);
	return read_element(reader, registry, RIDX_GLOBALS, globals);
}

static int find_registry(const struct table_reader *reader, uint64_t state, uint64_t *registry)
{
	const struct ls_puc_layout *layout = offsets_of(reader);
	struct table_value value;
	uint64_t global;
	int error = target_memory__read(reader->memory, state + layout->state_global, &global,
					sizeof(global));

	if (!error)
		error = read_value(reader, global + layout->global_registry, &value);
	if (!error && !is_table(reader, &value))
		error = -EFAULT;
	*registry = error ? 0 : value.value;
	return error;
}

static int open_tables(struct table_reader *reader, uint64_t state, struct vm_roots *roots)
{
	struct table_value globals;
	int error;

	for (size_t i = 0; i < LAYOUT_COUNT && !reader->table_layout; i++)
		if (layouts[i].minor == offsets_of(reader)->minor)
			reader->table_layout = &layouts[i];
	if (!reader->table_layout)
		return -ENOTSUP;
	error = find_registry(reader, state, &roots->registry);
	if (error)
		return error;
	adapt(reader, roots->registry);
	if (!find_globals(reader, state, roots->registry, &globals) && is_table(reader, &globals))
		roots->globals = globals.value;
	return 0;
}

const struct table_ops table_ops_puc = {
	.open = open_tables,
	.kind = kind_of,
	.c_function = function_address,
	.prototype = prototype_address,
	.slots = slots_of,
	.metatable = metatable_of,
	.each = each,
};
