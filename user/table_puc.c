/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table_puc.h"

#include <errno.h>
#include <string.h>

/* An array of Nodes; some kilobytes are read at a time. */
#define CHUNK_SIZE    8192
#define TAG_OF_OBJECT 8  /* GCObject.tt */
#define LOG_SLOTS     11 /* Table.lsizenode */
#define LOG_SLOTS_MAX 26 /* MAXHSIZE of a 64-bit machine, ltable.c */
#define VALUE_SIZE    16
#define STRING_HEADER 24   /* what every TString has; 5.3.0 has eight bytes more before the text */
#define TYPE_MASK     0x0f /* novariant(), lobject.h */
#define TYPE_STRING   4
#define TYPE_TABLE    5
#define LONG_STRING   20 /* LUA_VLNGSTR, since 5.2.1 */

/* lobject.h: Table and Node, which change with the minor version only. */
struct table_layout {
	uint8_t table_size;
	uint8_t array_count;
	uint8_t array;
	uint8_t node;
	uint8_t node_size; /* the value is its start */
	uint8_t key;
	uint8_t key_tag;
	uint8_t tag_size; /* of both tags in bytes; that of the value is behind its 8 bytes */
};

static const struct table_layout layouts[] = {
	[1] = {.table_size = 64,
	       .array_count = 56,
	       .array = 24,
	       .node = 32,
	       .node_size = 40,
	       .key = 16,
	       .key_tag = 24,
	       .tag_size = 4},
	[2] = {.table_size = 56,
	       .array_count = 12,
	       .array = 16,
	       .node = 24,
	       .node_size = 40,
	       .key = 16,
	       .key_tag = 24,
	       .tag_size = 4},
	/* TKey: `next` became an int beside the tag. */
	[3] = {.table_size = 56,
	       .array_count = 12,
	       .array = 16,
	       .node = 24,
	       .node_size = 32,
	       .key = 16,
	       .key_tag = 24,
	       .tag_size = 4},
	/* NodeKey: the key's tag is in the padding behind the value's. */
	[4] = {.table_size = 56,
	       .array_count = 12,
	       .array = 16,
	       .node = 24,
	       .node_size = 24,
	       .key = 16,
	       .key_tag = 9,
	       .tag_size = 1},
	/* Values grow downwards from `array`, tags upwards: no TValues any more. */
	[5] = {.table_size = 48,
	       .array_count = 12,
	       .array = 16,
	       .node = 24,
	       .node_size = 24,
	       .key = 16,
	       .key_tag = 9,
	       .tag_size = 1},
};

static const struct table_layout *layout_of(const struct table_puc_reader *reader)
{
	unsigned int minor = reader->layout->minor;

	if (minor >= sizeof(layouts) / sizeof(layouts[0]) || !layouts[minor].table_size)
		return NULL;
	return &layouts[minor];
}

static uint64_t load(const void *from, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, from, size);
	return value;
}

static struct table_puc_value load_value(const struct table_layout *layout, const uint8_t *from)
{
	return (struct table_puc_value){.value = load(from, 8),
					.tag = (uint32_t)load(from + 8, layout->tag_size)};
}

bool table_puc__is_table(const struct table_puc_reader *reader, const struct table_puc_value *value)
{
	/* BIT_ISCOLLECTABLE is a part of the tag since 5.2. */
	return value->tag == (reader->layout->minor == 1 ? TYPE_TABLE : (TYPE_TABLE | 64));
}

int table_puc__read_value(const struct table_puc_reader *reader, uint64_t address,
			  struct table_puc_value *value)
{
	const struct table_layout *layout = layout_of(reader);
	uint8_t bytes[VALUE_SIZE];
	int error;

	if (!layout)
		return -ENOTSUP;
	error = target_memory__read(reader->memory, address, bytes, sizeof(bytes));
	if (!error)
		*value = load_value(layout, bytes);
	return error;
}

static int read_header(const struct table_puc_reader *reader, uint64_t table, uint8_t header[64])
{
	const struct table_layout *layout = layout_of(reader);
	int error;

	if (!layout)
		return -ENOTSUP;
	error = target_memory__read(reader->memory, table, header, layout->table_size);
	if (error)
		return error;
	if (header[TAG_OF_OBJECT] != TYPE_TABLE || header[LOG_SLOTS] > LOG_SLOTS_MAX)
		return -EINVAL;
	return 0;
}

int table_puc__slots(const struct table_puc_reader *reader, uint64_t table, size_t *slots)
{
	uint8_t header[64];
	int error = read_header(reader, table, header);

	if (!error)
		*slots = (size_t)1 << header[LOG_SLOTS];
	return error;
}

int table_puc__element(const struct table_puc_reader *reader, uint64_t table, unsigned int index,
		       struct table_puc_value *value)
{
	const struct table_layout *layout = layout_of(reader);
	uint8_t header[64], tag = 0;
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
	const struct table_layout *layout = layout_of(reader);
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
	const struct table_layout *layout = layout_of(reader);
	uint8_t header[64], chunk[CHUNK_SIZE];
	int error = read_header(reader, table, header);
	uint64_t address;
	size_t slots, per_chunk;

	if (error)
		return error;
	slots = (size_t)1 << header[LOG_SLOTS];
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
