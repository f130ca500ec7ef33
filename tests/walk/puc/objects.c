/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "objects.h"

#include <string.h>

#define CODE_COUNT   64
#define OP_LOADK     3 /* of 5.4; in no release the opcode of a call */
#define TYPE_STRING  4
#define TAG_STRING   68 /* LUA_TSTRING | BIT_ISCOLLECTABLE */
#define SHORT_LENGTH 40 /* LUAI_MAXSHORTLEN */

/* How many of each a prototype has, all different. */
#define CONSTANT_COUNT 4
#define LOCAL_COUNT    5
#define UPVALUE_COUNT  2
#define NESTED_COUNT   3

uint64_t image__object(struct image *image, size_t size, uint8_t type)
{
	uint64_t object = image__allocate(image, size);

	image__put(image, object + 8, type, 1);
	image__put(image, object + 9, 1, 1);
	return object;
}

/* luaS_hash() up to 5.3, lstring.c; later releases hash every byte. */
static uint32_t hash_of(const char *text, size_t length)
{
	uint32_t hash = (uint32_t)length;
	size_t step = (length >> 5) + 1;

	for (; length >= step; length -= step)
		hash ^= (hash << 5) + (hash >> 2) + (uint8_t)text[length - 1];
	return hash;
}

uint64_t image__string(struct image *image, const char *text, size_t length)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t string = image__allocate(image, layout->string_contents + 8 + length + 1);
	uint64_t text_at = string + layout->string_contents;
	bool is_short = length <= SHORT_LENGTH;

	image__put(image, string + 9, 1, 1); /* marked: white */
	image__put(image, string + 8,
		   is_short || layout->minor == 1 ? TYPE_STRING : TYPE_STRING + 16, 1);
	image__put(image, string + 12, hash_of(text, length), 4);
	if (is_short && layout->string_short_length)
		image__put(image, string + layout->string_short_length, (uint8_t)length, 1);
	else
		image__put(image, string + layout->string_length, length, 8);
	/* LSTRREG, lstring.c of 5.5 */
	if (!is_short && layout->string_long_text) {
		text_at = string + layout->string_long_text + 8;
		image__put(image, string + layout->string_short_length, 0xff, 1);
		image__put(image, string + layout->string_long_text, text_at, 8);
	}
	memory__put_bytes(&image->memory, text_at, text, length);
	return string;
}

static uint8_t string_tag(const struct image *image, size_t length)
{
	if (image->layout->minor == 1)
		return TYPE_STRING;
	return length > SHORT_LENGTH ? TAG_STRING + 16 : TAG_STRING;
}

static void put_constants(struct image *image, uint64_t proto)
{
	static const char *const texts[] = {
		"print",
		"a constant",
		"of some more than forty bytes, which is a long string",
	};
	uint64_t constants = image__allocate(image, CONSTANT_COUNT * IMAGE_VALUE_SIZE);

	image__put(image, proto + image->layout->proto_constants, constants, 8);
	image__put(image, proto + image->layout->proto_constant_count, CONSTANT_COUNT, 4);
	for (size_t i = 0; i < 3; i++)
		image__put_value(image, constants + i * IMAGE_VALUE_SIZE,
				 image__string(image, texts[i], strlen(texts[i])),
				 string_tag(image, strlen(texts[i])));
	image__put_value(image, constants + 3 * IMAGE_VALUE_SIZE, 0x4045000000000000, 3);
}

void image__set_constant(struct image *image, uint64_t proto, size_t at, uint64_t string)
{
	uint64_t constants = image__get(image, proto + image->layout->proto_constants);

	image__put(image, constants + at * IMAGE_VALUE_SIZE, string, 8);
}

/* Each instruction's line; from 5.4 on, the difference from the one before. */
static void put_lines(struct image *image, uint64_t proto, uint32_t line)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t lines = image__allocate(image, CODE_COUNT * 4), pairs;

	image__put(image, proto + layout->proto_line_info, lines, 8);
	image__put(image, proto + layout->proto_line_info_count, CODE_COUNT, 4);
	if (!layout->proto_abs_line_info) {
		for (uint32_t i = 0; i < CODE_COUNT; i++)
			image__put(image, lines + i * 4, line + 1 + i / 8, 4);
		return;
	}
	for (uint32_t i = 0; i < CODE_COUNT; i += 8)
		image__put(image, lines + i, 1, 1);
	/* Only some functions are long enough to have absolute lines. */
	if (line < 15)
		return;
	pairs = image__allocate(image, 8);
	image__put(image, pairs, CODE_COUNT / 2, 4);
	image__put(image, pairs + 4, line + 1 + CODE_COUNT / 16, 4);
	image__put(image, proto + layout->proto_abs_line_info, pairs, 8);
	image__put(image, proto + layout->proto_abs_line_info_count, 1, 4);
}

static void put_locals(struct image *image, uint64_t proto)
{
	static const char *const names[LOCAL_COUNT] = {"self", "i", "count", "value", "last"};
	uint64_t locals = image__allocate(image, LOCAL_COUNT * 16);

	image__put(image, proto + image->layout->proto_local_vars, locals, 8);
	image__put(image, proto + image->layout->proto_local_var_count, LOCAL_COUNT, 4);
	for (uint32_t i = 0; i < LOCAL_COUNT; i++) {
		image__put(image, locals + i * 16, image__string(image, names[i], strlen(names[i])),
			   8);
		image__put(image, locals + i * 16 + 8, i * 2, 4);
		image__put(image, locals + i * 16 + 12, CODE_COUNT - i, 4);
	}
}

static void put_upvalues(struct image *image, uint64_t proto)
{
	uint64_t size = image->layout->minor == 1 ? 8 : 16;
	uint64_t upvalues = image__allocate(image, UPVALUE_COUNT * size);

	image__put(image, proto + image->layout->proto_upvalues, upvalues, 8);
	image__put(image, proto + image->layout->proto_upvalue_count, UPVALUE_COUNT, 4);
	for (uint32_t i = 0; i < UPVALUE_COUNT; i++)
		image__put(image, upvalues + i * size, image__string(image, "_ENV", 4), 8);
}

static void put_nested(struct image *image, uint64_t proto)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t nested = image__allocate(image, NESTED_COUNT * 8);

	image__put(image, proto + layout->proto_nested, nested, 8);
	image__put(image, proto + layout->proto_nested_count, NESTED_COUNT, 4);
	for (uint32_t i = 0; i < NESTED_COUNT; i++)
		image__put(image, nested + i * 8,
			   image__object(image, layout->proto_size, layout->proto_tag), 8);
}

uint64_t image__proto(struct image *image, const char *source, uint32_t line)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t proto = image__object(image, layout->proto_size, layout->proto_tag);
	uint64_t code = image__allocate(image, CODE_COUNT * 4);

	image__put(image, proto + layout->proto_code, code, 8);
	image__put(image, proto + layout->proto_code_count, CODE_COUNT, 4);
	for (uint32_t i = 0; i < CODE_COUNT; i++)
		image__put(image, code + i * 4, (line * 1000 + i) << 7 | OP_LOADK, 4);
	put_constants(image, proto);
	put_upvalues(image, proto);
	image__put(image, proto + layout->proto_line_defined, line, 4);
	image__put(image, proto + layout->proto_last_line_defined, line ? line + 10 : 0, 4);
	if (!source)
		return proto;
	image__put(image, proto + layout->proto_source,
		   image__string(image, source, strlen(source)), 8);
	put_lines(image, proto, line);
	put_locals(image, proto);
	put_nested(image, proto);
	return proto;
}

uint64_t image__lua_closure(struct image *image, uint64_t proto)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t closure = image__object(image, layout->closure_proto + 8 + UPVALUE_COUNT * 8,
					 layout->tag_lua_function & 63);

	image__put(image, closure + (layout->closure_is_c ? 11 : 10), UPVALUE_COUNT, 1);
	image__put(image, closure + layout->closure_proto, proto, 8);
	for (size_t i = 0; i < UPVALUE_COUNT; i++)
		image__put(image, closure + layout->closure_proto + 8 + i * 8, image->upvalue, 8);
	return closure;
}

uint64_t image__c_closure(struct image *image, uint64_t function)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t closure =
		image__object(image, layout->closure_function + 24, layout->tag_c_function & 63);

	image__put(image, closure + (layout->closure_is_c ? 11 : 10), 1, 1);
	image__put_value(image, closure + layout->closure_function + 8,
			 image__object(image, 56, IMAGE_TABLE), IMAGE_TABLE);
	if (layout->closure_is_c)
		image__put(image, closure + layout->closure_is_c, 1, 1);
	image__put(image, closure + layout->closure_function, function, 8);
	return closure;
}
