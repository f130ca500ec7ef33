/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "puc/layout_puc.h"

struct image image;

void image__put(void *at, size_t offset, uint64_t number, size_t size)
{
	memcpy((uint8_t *)at + offset, &number, size);
}

void image__start(int minor)
{
	size_t i;

	memset(&image, 0, sizeof(image));
	for (i = 0; i < layouts_puc_count; i++)
		if (layouts_puc[i].minor <= minor)
			image.layout = layouts_puc[i].offsets;
	image.layout.minor = (uint8_t)minor;
	image.bytecode = bytecode_puc__of(minor);
	assert_non_null(image.bytecode);
}

uint64_t image__add_string(const char *text, size_t length)
{
	uint8_t *string = image.strings[image.string_count++];
	const struct ls_puc_layout *layout = &image.layout;
	bool is_short = layout->string_short_length && length <= 40;

	assert_in_range(image.string_count, 1, TABLE_MAX);
	assert_in_range(length, 0, STRING_MAX - 64);
	image__put(string, 8, is_short || !layout->string_short_length ? 4 : 20, 1);
	if (is_short)
		image__put(string, layout->string_short_length, length, 1);
	else
		image__put(string, layout->string_length, length, 8);
	if (layout->minor >= 5 && !is_short) {
		image__put(string, layout->string_short_length, 0xff, 1);
		image__put(string, layout->string_contents, address_of(string + 40), 8);
		memcpy(string + 40, text, length);
	} else {
		memcpy(string + layout->string_contents, text, length);
	}
	return address_of(string);
}

static uint64_t add_text(const char *text)
{
	return image__add_string(text, strlen(text));
}

uint32_t image__add_constant(const char *text)
{
	struct value *constant = &image.constants[image.constant_count];

	constant->pointer = add_text(text);
	constant->tag = image.layout.minor == 1 ? 4 : TAG_STRING;
	return image.constant_count++;
}

void image__add_local(const char *name, int32_t start_pc, int32_t end_pc)
{
	image.locals[image.local_count++] = (struct local_var){add_text(name), start_pc, end_pc};
}

void image__add_upvalue(const char *name)
{
	image.upvalues[image.upvalue_count++].pointer = add_text(name);
}

void image__add(uint32_t op, uint32_t a, uint32_t b, uint32_t c)
{
	assert_in_range(image.code_count, 0, CODE_MAX - 1);
	image.code[image.code_count++] =
		in_field(image.bytecode->op, op) | in_field(image.bytecode->a, a) |
		in_field(image.bytecode->b, b) | in_field(image.bytecode->c, c);
}

void image__add_wide(uint32_t op, uint32_t a, uint32_t bx)
{
	assert_in_range(image.code_count, 0, CODE_MAX - 1);
	image.code[image.code_count++] = in_field(image.bytecode->op, op) |
					 in_field(image.bytecode->a, a) |
					 in_field(image.bytecode->bx, bx);
}

void image__finish(void)
{
	const struct ls_puc_layout *layout = &image.layout;
	uint8_t *proto = image.proto;

	image__put(proto, 8, layout->proto_tag, 1);
	image__put(proto, layout->proto_code, address_of(image.code), 8);
	image__put(proto, layout->proto_code_count, image.code_count, 4);
	image__put(proto, layout->proto_constants, address_of(image.constants), 8);
	image__put(proto, layout->proto_constant_count, image.constant_count, 4);
	image__put(proto, layout->proto_local_vars, address_of(image.locals), 8);
	image__put(proto, layout->proto_local_var_count, image.local_count, 4);
	image__put(proto, layout->proto_upvalues, address_of(image.upvalues), 8);
	image__put(proto, layout->proto_upvalue_count, image.upvalue_count, 4);
}

int image__read(uint32_t pc, struct call_site *site)
{
	struct target_memory memory = {.pid = getpid()};

	return call_site_puc__read(&memory, &image.layout, address_of(image.proto), pc, site);
}

static int read_last(struct call_site *site)
{
	image__finish();
	return image__read(image.code_count - 1, site);
}

void image__expect(enum call_site_kind kind, const char *name)
{
	struct call_site site;

	assert_int_equal(read_last(&site), 0);
	assert_int_equal(site.kind, kind);
	assert_string_equal(site.name, name);
}

void image__expect_error(int error)
{
	struct call_site site;

	assert_int_equal(read_last(&site), error);
	assert_int_equal(site.kind, CALL_SITE_UNKNOWN);
	assert_string_equal(site.name, "");
}
