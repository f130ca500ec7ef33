/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that no compiler emits, and torn or hostile prototypes. tests/names/test_definition_puc.c
 * compares the names with those of real interpreters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "puc/definition_puc.h"
#include "puc_image.h"

/* Opcodes of 5.4, lopcodes.h */
enum {
	GETFIELD = 14,
	SETTABLE = 16,
	SETFIELD = 18,
	NEWTABLE = 19,
	RETURN = 70,
	CLOSURE = 79,
};

#define NESTED_MOST 4

static uint8_t children[NESTED_MOST][256];
static uint32_t child_code[1];
static uint64_t nested[NESTED_MOST + 1];
static int8_t lines[CODE_MAX];
static struct nested_definitions found;

/* A parent of 5.4 with this many functions, on lines 1 to 9 and without parameters. */
static void begin(uint32_t functions)
{
	const struct ls_puc_layout *layout = &image.layout;

	image__start(4);
	memset(children, 0, sizeof(children));
	for (uint32_t i = 0; i < functions; i++) {
		image__put(children[i], 8, layout->proto_tag, 1);
		image__put(children[i], layout->proto_code, address_of(child_code), 8);
		image__put(children[i], layout->proto_code_count, 1, 4);
		image__put(children[i], layout->proto_line_defined, 1, 4);
		image__put(children[i], layout->proto_last_line_defined, 9, 4);
		nested[i] = address_of(children[i]);
	}
	image__put(image.proto, layout->proto_nested, address_of(nested), 8);
	image__put(image.proto, layout->proto_nested_count, functions, 4);
}

static int read_names(void)
{
	const struct ls_puc_layout *layout = &image.layout;
	struct target_memory memory = {.pid = getpid()};

	image__finish();
	image__put(image.proto, layout->proto_line_info, address_of(lines), 8);
	image__put(image.proto, layout->proto_line_info_count, image.code_count, 4);
	return definition_puc__read(&memory, layout, address_of(image.proto), &found);
}

/* The only function that has a name is the first, and is called that; NULL: none has one. */
static void expect(const char *name)
{
	assert_int_equal(read_names(), 0);
	assert_int_equal(found.count, name ? 1 : 0);
	if (name) {
		assert_int_equal(found.items[0].address, nested[0]);
		assert_string_equal(found.items[0].name, name);
	}
	free(found.items);
}

static void expect_error(int error)
{
	assert_int_equal(read_names(), error);
	assert_int_equal(found.count, 0);
	free(found.items);
}

static void names_what_is_stored_in_a_field(void **state)
{
	(void)state;
	begin(1);
	image__add_local("M", 0, 9);
	image__add_constant("run");
	image__add_wide(CLOSURE, 1, 0);
	image__add(SETFIELD, 0, 0, 1);
	expect("M.run");
}

static void names_a_field_of_what_a_table_becomes(void **state)
{
	(void)state;
	begin(1);
	image__add_local("M", 4, 9);
	image__add_constant("a");
	image__add_constant("b");
	image__add(NEWTABLE, 0, 0, 0);
	image__add(NEWTABLE, 1, 0, 0);
	image__add_wide(CLOSURE, 2, 0);
	image__add(SETFIELD, 1, 1, 2);
	image__add(SETFIELD, 0, 0, 1);
	image.locals[0].start_pc = 5;
	image__add(RETURN, 0, 1, 0);
	expect("M.a.b");
}

static void a_method_on_one_line_could_be_a_field(void **state)
{
	struct local_var self = {0, 0, 1};

	(void)state;
	for (int is_one_line = 0; is_one_line < 2; is_one_line++) {
		begin(1);
		image__add_local("M", 0, 9);
		image__add_constant("run");
		self.name = image__add_string("self", 4);
		image__put(children[0], image.layout.proto_local_vars, address_of(&self), 8);
		image__put(children[0], image.layout.proto_local_var_count, 1, 4);
		image__put(image.proto, image.layout.proto_line_defined, 1, 4);
		if (is_one_line)
			image__put(children[0], image.layout.proto_last_line_defined, 1, 4);
		image__add_wide(CLOSURE, 1, 0);
		image__add(SETFIELD, 0, 0, 1);
		expect(is_one_line ? NULL : "M:run");
	}
}

static void a_function_that_is_made_twice_has_no_name(void **state)
{
	(void)state;
	begin(1);
	image__add_local("f", 1, 9);
	image__add_local("g", 2, 9);
	image__add_wide(CLOSURE, 0, 0);
	image__add_wide(CLOSURE, 1, 0);
	image__add(RETURN, 0, 1, 0);
	expect(NULL);
}

static void a_table_that_may_be_another_one_gives_no_name(void **state)
{
	(void)state;
	begin(1);
	image__add_local("x", 0, 9);
	image__add_constant("y");
	image__add_constant("f");
	/* (x.y or x.f).f = function */
	image__add(GETFIELD, 1, 0, 0);
	image.code[image.code_count++] =
		in_field(image.bytecode->op, JMP) |
		in_field(image.bytecode->jump, image.bytecode->jump_zero + 1);
	image__add(GETFIELD, 1, 0, 1);
	image__add_wide(CLOSURE, 2, 0);
	image__add(SETFIELD, 1, 1, 2);
	expect(NULL);
}

static void an_argument_has_no_name(void **state)
{
	(void)state;
	begin(1);
	image__add_local("later", 3, 9);
	image__add(GETUPVAL, 0, 0, 0);
	image__add_wide(CLOSURE, 1, 0);
	image__add(CALL, 0, 2, 2);
	image__add(RETURN, 0, 1, 0);
	image__add_upvalue("pcall");
	expect(NULL);
}

static void a_stripped_chunk_names_nothing(void **state)
{
	struct target_memory memory = {.pid = getpid()};

	(void)state;
	begin(1);
	image__add_local("f", 1, 9);
	image__add_wide(CLOSURE, 0, 0);
	image__add(RETURN, 0, 1, 0);
	expect("f");
	image__put(image.proto, image.layout.proto_line_info_count, 0, 4);
	assert_int_equal(
		definition_puc__read(&memory, &image.layout, address_of(image.proto), &found), 0);
	assert_int_equal(found.count, 0);
	free(found.items);
}

/* A table stored in itself, and fields of fields without end. */
static void ends_where_tables_go_round(void **state)
{
	(void)state;
	begin(1);
	image__add_constant("a");
	image__add(NEWTABLE, 0, 0, 0);
	image__add(SETFIELD, 0, 0, 0);
	image__add(NEWTABLE, 1, 0, 0);
	image__add(MOVE, 2, 1, 0);
	image__add(SETFIELD, 2, 0, 1);
	image__add_wide(CLOSURE, 3, 0);
	image__add(SETFIELD, 2, 0, 3);
	expect(NULL);
	begin(1);
	image__add_constant("a");
	image__add_local("t", 0, 99);
	image__add(GETFIELD, 1, 0, 0);
	for (int i = 0; i < 60; i++)
		image__add(GETFIELD, 1, 1, 0);
	image__add_wide(CLOSURE, 2, 0);
	image__add(SETFIELD, 1, 0, 2);
	expect(NULL);
}

static void refuses_what_makes_no_sense(void **state)
{
	(void)state;
	begin(1);
	image__add_wide(CLOSURE, 0, 1); /* there is no second function */
	expect_error(-EINVAL);
	begin(1);
	image__add(127, 0, 0, 0); /* no such opcode */
	expect_error(-EINVAL);
	begin(1);
	image__add_wide(CLOSURE, 255, 0); /* the last register */
	image__add(CALL, 255, 0, 0);
	expect(NULL);
	begin(1);
	image__add_wide(CLOSURE, 0, 0);
	image__put(image.proto, image.layout.proto_nested_count, UINT32_MAX, 4);
	expect_error(-E2BIG);
	begin(1);
	image__add_wide(CLOSURE, 0, 0);
	image__put(image.proto, image.layout.proto_nested, 16, 8);
	expect_error(-EFAULT);
}

/* A function that is gone does not affect the others. */
static void a_function_that_cannot_be_read_has_no_name(void **state)
{
	(void)state;
	begin(2);
	nested[1] = 16;
	image__add_local("f", 1, 9);
	image__add_local("g", 2, 9);
	image__add_wide(CLOSURE, 0, 0);
	image__add_wide(CLOSURE, 1, 1);
	image__add(RETURN, 0, 1, 0);
	expect("f");
}

static void names_that_are_too_long_or_odd_are_none(void **state)
{
	char text[300];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[254] = '\0';
	for (int is_odd = 0; is_odd < 3; is_odd++) {
		begin(1);
		image__add_local("M", 0, 9);
		image__add_constant(is_odd == 0 ? text : is_odd == 1 ? "tab\t" : "a key");
		image__add_wide(CLOSURE, 1, 0);
		image__add(SETFIELD, 0, 0, 1);
		expect(is_odd == 2 ? "M[\"a key\"]" : NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_is_stored_in_a_field),
		cmocka_unit_test(names_a_field_of_what_a_table_becomes),
		cmocka_unit_test(a_method_on_one_line_could_be_a_field),
		cmocka_unit_test(a_function_that_is_made_twice_has_no_name),
		cmocka_unit_test(a_table_that_may_be_another_one_gives_no_name),
		cmocka_unit_test(an_argument_has_no_name),
		cmocka_unit_test(a_stripped_chunk_names_nothing),
		cmocka_unit_test(ends_where_tables_go_round),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(a_function_that_cannot_be_read_has_no_name),
		cmocka_unit_test(names_that_are_too_long_or_odd_are_none),
	};

	return cmocka_run_group_tests_name("definition_puc", tests, NULL, NULL);
}
