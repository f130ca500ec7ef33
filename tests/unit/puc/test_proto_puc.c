/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prototypes that are long, invalid or missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "puc_image.h"

static void names_a_local_only_while_it_lives(void **state)
{
	(void)state;
	image__start(4);
	image__add(CALL, 0, 1, 1);
	image__add(CALL, 0, 1, 1);
	image__add_local("ended", 0, 1);
	image__add_local("alive", 1, 2);
	image__add_local("later", 2, 9);
	image__expect(CALL_SITE_LOCAL, "alive");
}

static void finds_a_local_beyond_the_first_that_are_read(void **state)
{
	int i;

	(void)state;
	image__start(4);
	image__add(CALL, 0, 1, 1);
	image__add(CALL, 0, 1, 1);
	for (i = 0; i < TABLE_MAX - 1; i++)
		image__add_local("ended", 0, 1);
	image__add_local("last", 1, 2);
	image__expect(CALL_SITE_LOCAL, "last");
}

static void cuts_long_names(void **state)
{
	char text[301];
	char cut[256];
	int minor;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[300] = '\0';
	memcpy(cut, text, 255);
	cut[255] = '\0';
	for (minor = 4; minor <= 5; minor++) {
		image__start(minor);
		image__add_upvalue(text);
		image__add(GETUPVAL, 0, 0, 0);
		image__add(CALL, 0, 1, 1);
		image__expect(CALL_SITE_UPVALUE, cut);
	}
}

static void ends_names_at_a_nul(void **state)
{
	(void)state;
	image__start(4);
	image.upvalues[image.upvalue_count++].pointer = image__add_string("cut\0off", 7);
	image__add(GETUPVAL, 0, 0, 0);
	image__add(CALL, 0, 1, 1);
	image__expect(CALL_SITE_UPVALUE, "cut");
}

static void reads_a_string_that_claims_gigabytes(void **state)
{
	(void)state;
	image__start(4);
	image__add_upvalue("up");
	image__put(image.strings[0], 8, 20, 1);
	image__put(image.strings[0], image.layout.string_length, UINT64_MAX, 8);
	image__add(GETUPVAL, 0, 0, 0);
	image__add(CALL, 0, 1, 1);
	image__expect(CALL_SITE_UPVALUE, "up");
}

static void refuses_an_instruction_beyond_the_code(void **state)
{
	struct call_site site;

	(void)state;
	image__start(4);
	image__add(CALL, 0, 1, 1);
	image__finish();
	assert_int_equal(image__read(1, &site), -EINVAL);
	assert_int_equal(image__read(UINT32_MAX, &site), -EINVAL);
	image__put(image.proto, image.layout.proto_code_count, UINT32_MAX, 4);
	assert_int_equal(image__read(1, &site), -EINVAL);
	image__put(image.proto, image.layout.proto_code_count, INT32_MAX, 4);
	assert_int_equal(image__read(INT32_MAX - 1, &site), -EINVAL);
	assert_int_equal(image__read(0, &site), 0);
}

static void refuses_what_is_no_prototype(void **state)
{
	struct call_site site;

	(void)state;
	image__start(4);
	image__add(CALL, 0, 1, 1);
	image__finish();
	image.proto[8] = 6;
	assert_int_equal(image__read(0, &site), -EINVAL);
}

static void refuses_constants_that_do_not_exist(void **state)
{
	(void)state;
	image__start(4);
	image__add_wide(LOADK, 0, 0);
	image__add(CALL, 0, 1, 1);
	image__expect_error(-EINVAL);
}

static void refuses_names_that_are_no_strings(void **state)
{
	(void)state;
	image__start(4);
	image__add_upvalue("up");
	image.strings[0][8] = 5;
	image__add(GETUPVAL, 0, 0, 0);
	image__add(CALL, 0, 1, 1);
	image__expect_error(-EINVAL);
}

static void refuses_more_locals_than_lua_has(void **state)
{
	struct call_site site;

	(void)state;
	image__start(4);
	image__add(CALL, 0, 1, 1);
	image__finish();
	image__put(image.proto, image.layout.proto_local_var_count, 32768, 4);
	assert_int_equal(image__read(0, &site), -EINVAL);
}

static void says_what_cannot_be_read(void **state)
{
	struct target_memory memory = {.pid = getpid()};
	struct call_site site;

	(void)state;
	image__start(4);
	assert_int_equal(call_site_puc__read(&memory, &image.layout, 16, 0, &site), -EFAULT);
	image__add_upvalue("up");
	image__add(GETUPVAL, 0, 0, 0);
	image__add(CALL, 0, 1, 1);
	image.upvalues[0].pointer = 16;
	image__expect_error(-EFAULT);
	image__finish();
	image__put(image.proto, image.layout.proto_code, 16, 8);
	assert_int_equal(image__read(1, &site), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_local_only_while_it_lives),
		cmocka_unit_test(finds_a_local_beyond_the_first_that_are_read),
		cmocka_unit_test(cuts_long_names),
		cmocka_unit_test(ends_names_at_a_nul),
		cmocka_unit_test(reads_a_string_that_claims_gigabytes),
		cmocka_unit_test(refuses_an_instruction_beyond_the_code),
		cmocka_unit_test(refuses_what_is_no_prototype),
		cmocka_unit_test(refuses_constants_that_do_not_exist),
		cmocka_unit_test(refuses_names_that_are_no_strings),
		cmocka_unit_test(refuses_more_locals_than_lua_has),
		cmocka_unit_test(says_what_cannot_be_read),
	};

	return cmocka_run_group_tests_name("proto_puc", tests, NULL, NULL);
}
