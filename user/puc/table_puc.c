/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table_puc.h"

#include <errno.h>
#include <string.h>

/* An array of Nodes; some kilobytes are read at a time. */
#define CHUNK_SIZE     8192
#define TAG_OF_OBJECT  8  /* GCObject.tt */
#define LOG_SLOTS_MAX  26 /* MAXHSIZE of a 64-bit machine, ltable.c */
#define VALUE_SIZE     16
#define TABLE_SIZE_MAX 72
#define STRING_HEADER  24   /* what every TString has; 5.3.0 has eight bytes more before the text */
#define TYPE_MASK      0x0f /* novariant(), lobject.h */
#define TYPE_STRING    4
#define TYPE_TABLE     5
#define LONG_STRING    20 /* LUA_VLNGSTR, since 5.2.1 */

/* lobject.h: Table and Node, which change with the minor version only. */
struct table_puc_layout {
	uint8_t minor;
	uint8_t table_size;
	uint8_t log_slots; /* lsizenode */
	uint8_t array_count;
	uint8_t array;
	uint8_t node;
	uint8_t metatable;
	uint8_t last_free; /* behind the last node, or at one; 0: not looked at */
	uint8_t node_size; /* the value is its start */
	uint8_t key;
	uint8_t key_tag;
	uint8_t tag_size; /* of both tags in bytes; that of the value is behind its 8 bytes */
};

/* The end of a Node, up to 5.3: a TValue, and a TKey that begins like one. */
#define KEY_IS_VALUE .key = 16, .key_tag = 24, .tag_size = 4
/* Since 5.4 the key's tag is in the padding behind the value's. */
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
	/* In the array part, values grow downwards and tags upwards: no TValues. */
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

static struct table_puc_value load_value(const struct table_puc_layout *layout, const uint8_t *from)
{
	return (struct table_puc_value){.value = load(from, 8),
					.tag = (uint32_t)load(from + 8, layout->tag_size)};
}

int table_puc__start(struct table_puc_reader *reader, const struct target_memory *memory,
		     const struct ls_puc_layout *layout, size_t slots)
{
	*reader =
		(struct table_puc_reader){.memory = memory, .layout = layout, .slots_left = slots};
	for (size_t i = 0; i < LAYOUT_COUNT && !reader->table_layout; i++)
		if (layouts[i].minor == layout->minor)
			reader->table_layout = &layouts[i];
	return reader->table_layout ? 0 : -ENOTSUP;
}

/* `lastfree` is the field whose value follows from others. */
static bool looks_right(const struct table_puc_layout *layout, const uint8_t *header)
{
	uint64_t node = load(header + layout->node, 8);
	uint64_t slots = (uint64_t)1 << (header[layout->log_slots] & 31);
	uint64_t free = load(header + layout->last_free, 8) - node + layout->node_size;

	/* From one before the first node to one behind the last. */
	return header[TAG_OF_OBJECT] == TYPE_TABLE && header[layout->log_slots] <= LOG_SLOTS_MAX &&
	       node && free <= (slots + 1) * layout->node_size && free % layout->node_size == 0;
}

void table_puc__adapt(struct table_puc_reader *reader, uint64_t table)
{
	uint8_t header[TABLE_SIZE_MAX];

	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		if (layouts[i].minor == reader->layout->minor && layouts[i].last_free &&
		    !target_memory__read(reader->memory, table, header, layouts[i].table_size) &&
		    looks_right(&layouts[i], header)) {
			reader->table_layout = &layouts[i];
			return;
		}
	}
}

bool table_puc__is_table(const struct table_puc_reader *reader, const struct table_puc_value *value)
{
	/* BIT_ISCOLLECTABLE is a part of the tag since 5.2. */
	return value->tag == (reader->layout->minor == 1 ? TYPE_TABLE : (TYPE_TABLE | 64));
}

int table_puc__read_value(const struct table_puc_reader *reader, uint64_t address,
			  struct table_puc_value *value)
{
	const struct table_puc_layout *layout = reader->table_layout;
	uint8_t bytes[VALUE_SIZE];
	int error = target_memory__read(reader->memory, address, bytes, sizeof(bytes));

	if (!error)
		*value = load_value(layout, bytes);
	return error;
}

static int read_header(const struct table_puc_reader *reader, uint64_t table,
		       uint8_t header[TABLE_SIZE_MAX])
{
	const struct table_puc_layout *layout = reader->table_layout;
	int error;

	error = target_memory__read(reader->memory, table, header, layout->table_size);
	if (error)
		return error;
	if (header[TAG_OF_OBJECT] != TYPE_TABLE || header[layout->log_slots] > LOG_SLOTS_MAX)
		return -EINVAL;
	return 0;
}

int table_puc__slots(const struct table_puc_reader *reader, uint64_t table, size_t *slots)
{
	uint8_t header[TABLE_SIZE_MAX];
	int error = read_header(reader, table, header);

	if (!error)
		*slots = (size_t)1 << header[reader->table_layout->log_slots];
	return error;
}

int table_puc__metatable(const struct table_puc_reader *reader, uint64_t table, uint64_t *metatable)
{
	uint8_t header[TABLE_SIZE_MAX];
	int error = read_header(reader, table, header);

	*metatable = error ? 0 : load(header + reader->table_layout->metatable, 8);
	return error;
}

int table_puc__element(const struct table_puc_reader *reader, uint64_t table, unsigned int index,
		       struct table_puc_value *value)
{
	const struct table_puc_layout *layout = reader->table_layout;
	uint8_t header[TABLE_SIZE_MAX], tag = 0;
	uint64_t array;
	int error = read_header(reader, table, header);

	if (error)
		return error;
	if (index == 0 || index > load(header + layout->array_count, 4))
		return -ENOENT;
	array = load(header + layout->array, 8);
	if (reader->layout->minor < 5)
		return table_puc__read_value(reader, array + (uint64_t)VALUE_SIZE * (index - 1),
					     value);
	/* getArrVal() and getArrTag(), ltable.h: an unsigned int lies between the two. */
	error = target_memory__read(reader->memory, array - 8 * (uint64_t)index, &value->value, 8);
	if (!error)
		error = target_memory__read(reader->memory, array + 4 + (index - 1), &tag, 1);
	value->tag = tag;
	return error;
}

/* 0; -EINVAL: no string that could be a name; other -errno. */
static int read_key(const struct table_puc_reader *reader, uint64_t string,
		    char key[TABLE_PUC_KEY_SIZE])
{
	const struct ls_puc_layout *layout = reader->layout;
	uint64_t text = string + layout->string_contents, length;
	uint8_t header[STRING_HEADER];
	bool is_short;
	int error = target_memory__read(reader->memory, string, header, sizeof(header));

	if (!error && (header[TAG_OF_OBJECT] & TYPE_MASK) != TYPE_STRING)
		error = -EINVAL;
	if (error)
		return error;
	is_short = layout->string_short_length && header[TAG_OF_OBJECT] != LONG_STRING;
	memcpy(&length, header + layout->string_length, sizeof(length));
	if (is_short)
		length = header[layout->string_short_length];
	/* 5.5 has a pointer there in a long string, whose text may lie outside of the object. */
	else if (layout->minor >= 5)
		error = target_memory__read(reader->memory, text, &text, sizeof(text));
	if (length > TABLE_PUC_KEY_SIZE - 1)
		length = TABLE_PUC_KEY_SIZE - 1;
	if (!error)
		error = target_memory__read(reader->memory, text, key, length);
	if (error)
		return error;
	key[length] = '\0';
	return length && strlen(key) == length ? 0 : -EINVAL;
}

static int visit_node(const struct table_puc_reader *reader, const uint8_t *node,
		      table_puc_wants *wants, table_puc_visit *visit, void *context)
{
	const struct table_puc_layout *layout = reader->table_layout;
	struct table_puc_value value = load_value(layout, node);
	uint64_t key_tag = load(node + layout->key_tag, layout->tag_size);
	char key[TABLE_PUC_KEY_SIZE];

	/* A dead key has a tag of its own, and its value is nil. */
	if (value.tag == 0 || (key_tag & TYPE_MASK) != TYPE_STRING || !wants(reader, &value) ||
	    read_key(reader, load(node + layout->key, 8), key))
		return 0;
	return visit(context, key, &value);
}

int table_puc__each(struct table_puc_reader *reader, uint64_t table, table_puc_wants *wants,
		    table_puc_visit *visit, void *context)
{
	const struct table_puc_layout *layout = reader->table_layout;
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
