/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hand-made instructions, mostly such as compilers hardly ever emit. tests/names/ compares the
 * names with those of real interpreters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "puc_image.h"

static void knows_five_minor_versions(void **state)
{
	static const size_t counts[] = {38, 40, 47, 83, 85};
	int minor;

	(void)state;
	for (minor = 1; minor <= 5; minor++)
		assert_int_equal(bytecode_puc__of(minor)->op_count, counts[minor - 1]);
	assert_null(bytecode_puc__of(0));
	assert_null(bytecode_puc__of(6));
	assert_null(bytecode_puc__of(-1));
}

static void has_no_rows_for_opcodes_that_do_not_exist(void **state)
{
	(void)state;
	assert_non_null(bytecode_puc__op(bytecode_puc__of(1), 37));
	assert_null(bytecode_puc__op(bytecode_puc__of(1), 38));
	assert_non_null(bytecode_puc__op(bytecode_puc__of(4), 82));
	assert_null(bytecode_puc__op(bytecode_puc__of(4), 83));
}

static void names_events_as_each_version_does(void **state)
{
	(void)state;
	assert_string_equal(bytecode_puc__event(bytecode_puc__of(3), EVENT_INDEX), "__index");
	assert_string_equal(bytecode_puc__event(bytecode_puc__of(4), EVENT_INDEX), "index");
	assert_string_equal(bytecode_puc__event(bytecode_puc__of(5), EVENT_CLOSE), "close");
	assert_null(bytecode_puc__event(bytecode_puc__of(4), EVENT_NONE));
	assert_null(bytecode_puc__event(bytecode_puc__of(4), EVENT_COUNT));
}

static void follows_a_value_that_was_moved(void **state)
{
	(void)state;
	image__start(4);
	image__add_upvalue("up");
	image__add(GETUPVAL, 0, 0, 0);
	image__add(MOVE, 3, 0, 0);
	image__add(CALL, 3, 1, 1);
	image__expect(CALL_SITE_UPVALUE, "up");
}

static void ends_where_moves_do_not_go_down(void **state)
{
	(void)state;
	image__start(4);
	image__add_upvalue("up");
	image__add(GETUPVAL, 2, 0, 0);
	image__add(MOVE, 1, 2, 0);
	image__add(CALL, 1, 1, 1);
	image__expect(CALL_SITE_UNKNOWN, "");
	image__start(1);
	image__add(0, 2, 1, 0);  /* MOVE */
	image__add(0, 1, 2, 0);  /* MOVE */
	image__add(28, 2, 1, 1); /* CALL */
	image__expect(CALL_SITE_UNKNOWN, "");
}

static void follows_the_longest_chain_of_moves(void **state)
{
	uint32_t reg;

	(void)state;
	image__start(4);
	image__add_upvalue("up");
	image__add(GETUPVAL, 0, 0, 0);
	for (reg = 1; reg <= 255; reg++)
		image__add(MOVE, reg, reg - 1, 0);
	image__add(CALL, 255, 1, 1);
	image__expect(CALL_SITE_UPVALUE, "up");
}

static void does_not_trust_what_a_jump_may_have_skipped(void **state)
{
	(void)state;
	image__start(4);
	image__add_upvalue("up");
	image__add(GETUPVAL, 0, 0, 0);
	image.code[image.code_count++] =
		JMP | in_field(image.bytecode->jump, image.bytecode->jump_zero + 1);
	image__add(GETUPVAL, 0, 0, 0);
	image__add(CALL, 0, 1, 1);
	image__expect(CALL_SITE_UNKNOWN, "");
}

static void names_a_constant_of_the_extra_argument(void **state)
{
	(void)state;
	image__start(4);
	image__add_constant("first");
	image__add_constant("second");
	image__add_wide(LOADKX, 0, 0);
	image.code[image.code_count++] = EXTRA | in_field(image.bytecode->ax, 1);
	image__add(CALL, 0, 1, 1);
	image__expect(CALL_SITE_CONSTANT, "second");
}

static void does_not_take_what_a_closure_captures_for_code(void **state)
{
	uint8_t nested[120] = {0};
	uint64_t nested_address = address_of(nested);

	(void)state;
	image__start(1);
	image__add_constant("f");
	image__add_upvalue("captured");
	image.upvalues[0].tag = 0;
	image__add_wide(5, 0, 0);  /* GETGLOBAL */
	image__add_wide(36, 1, 0); /* CLOSURE */
	image__add(4, 0, 0, 0);    /* GETUPVAL, which is captured */
	image__add(28, 0, 2, 1);   /* CALL */
	image__put(image.proto, 32, address_of(&nested_address), 8);
	image__put(image.proto, 88, 1, 4);
	image__put(nested, 112, 1, 1);
	image__expect(CALL_SITE_GLOBAL, "f");
	image__put(image.proto, 88, 0, 4);
	image__expect_error(-EINVAL);
	image__put(image.proto, 88, 1, 4);
	nested_address = 8;
	image__expect_error(-EFAULT);
}

/* The rules that compiled code hardly ever shows: ldebug.c, symbexec and findsetreg. */

static void takes_self_for_the_writer_of_two_registers_in_5_1(void **state)
{
	(void)state;
	image__start(1);
	image__add_constant("m");
	image__add_upvalue("up");
	image__add(4, 1, 0, 0);    /* GETUPVAL */
	image__add(11, 0, 0, 256); /* SELF */
	image__add(28, 1, 1, 1);   /* CALL */
	image__expect(CALL_SITE_METHOD, "m");
}

static void skips_the_count_of_a_list_in_5_1(void **state)
{
	uint32_t block;

	(void)state;
	for (block = 0; block <= 1; block++) {
		image__start(1);
		image__add_constant("f");
		image__add_upvalue("up");
		image__add_wide(5, 0, 0);    /* GETGLOBAL */
		image__add(34, 5, 1, block); /* SETLIST */
		image__add(4, 0, 0, 0);      /* GETUPVAL, or that number */
		image__add(28, 0, 1, 1);     /* CALL */
		if (block == 0)
			image__expect(CALL_SITE_GLOBAL, "f");
		else
			image__expect(CALL_SITE_UPVALUE, "up");
	}
}

static void names_what_was_moved_as_of_the_call_in_5_1(void **state)
{
	(void)state;
	image__start(1);
	image__add_constant("f");
	image__add_upvalue("up");
	image__add(4, 0, 0, 0);   /* GETUPVAL */
	image__add(0, 3, 0, 0);   /* MOVE */
	image__add_wide(5, 0, 0); /* GETGLOBAL */
	image__add(28, 3, 1, 1);  /* CALL */
	image__expect(CALL_SITE_GLOBAL, "f");
}

static void names_what_was_moved_as_of_the_move_since_5_2(void **state)
{
	(void)state;
	image__start(4);
	image__add_constant("s");
	image__add_upvalue("up");
	image__add(GETUPVAL, 0, 0, 0);
	image__add(MOVE, 3, 0, 0);
	image__add_wide(LOADK, 0, 0);
	image__add(CALL, 3, 1, 1);
	image__expect(CALL_SITE_UPVALUE, "up");
}

static void takes_a_loop_for_the_writer_of_its_variables_in_5_1(void **state)
{
	uint32_t reg;

	(void)state;
	for (reg = 2; reg <= 3; reg++) {
		image__start(1);
		image__add_upvalue("up");
		image__add(4, reg, 0, 0);  /* GETUPVAL */
		image__add(33, 1, 0, 1);   /* TFORLOOP */
		image__add(28, reg, 1, 1); /* CALL */
		if (reg == 2)
			image__expect(CALL_SITE_UPVALUE, "up");
		else
			image__expect(CALL_SITE_UNKNOWN, "");
	}
}

static void distrusts_a_tested_register_up_to_5_2(void **state)
{
	(void)state;
	image__start(2);
	image__add_upvalue("up");
	image__add(5, 0, 0, 0);  /* GETUPVAL */
	image__add(27, 0, 0, 0); /* TEST */
	image__add(29, 0, 1, 1); /* CALL */
	image__expect(CALL_SITE_UNKNOWN, "");
	image__start(3);
	image__add_upvalue("up");
	image__add(5, 0, 0, 0);  /* GETUPVAL */
	image__add(34, 0, 0, 0); /* TEST */
	image__add(36, 0, 1, 1); /* CALL */
	image__expect(CALL_SITE_UPVALUE, "up");
}

static void refuses_opcodes_that_do_not_exist(void **state)
{
	(void)state;
	image__start(4);
	image__add(127, 0, 0, 0);
	image__expect_error(-EINVAL);
	image__add(CALL, 0, 1, 1);
	image__expect_error(-EINVAL);
}

static void refuses_a_version_without_a_table(void **state)
{
	struct call_site site;

	(void)state;
	image__start(4);
	image__add(CALL, 0, 1, 1);
	image__finish();
	image.layout.minor = 6;
	assert_int_equal(image__read(0, &site), -EINVAL);
}

/*
 * The code ends with as many moves as luaspy reads at most; without a bound, this would take
 * seconds.
 */
static void gives_up_on_work_without_end(void **state)
{
	uint32_t count = 4U << 20;
	struct call_site site;
	uint32_t *code;
	uint32_t reg;

	(void)state;
	image__start(4);
	code = mmap(NULL, count * sizeof(*code), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	for (reg = 1; reg <= 255; reg++) {
		image.code_count = 0;
		image__add(MOVE, reg, reg - 1, 0);
		code[count - 257 + reg] = image.code[0];
	}
	image.code_count = 0;
	image__add(CALL, 255, 1, 1);
	code[count - 1] = image.code[0];
	image.code_count = count;
	image__finish();
	image__put(image.proto, image.layout.proto_code, address_of(code), 8);
	assert_int_equal(image__read(count - 1, &site), -EINVAL);
	munmap(code, count * sizeof(*code));
}

static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void fill_at_random(uint32_t *seed)
{
	uint32_t i, count = 1 + next_random(seed) % 60;

	for (i = 0; i < 8; i++) {
		image__add_constant("constant");
		image__add_upvalue(i ? "upvalue" : "_ENV");
		image__add_local("local", (int32_t)(next_random(seed) % 64),
				 (int32_t)(next_random(seed) % 64));
	}
	image.constants[next_random(seed) % 8].tag = next_random(seed);
	image.constants[next_random(seed) % 8].pointer = next_random(seed);
	for (i = 0; i < count; i++)
		image__add(next_random(seed) % (image.bytecode->op_count + 1),
			   next_random(seed) % 8, next_random(seed) % 8, next_random(seed) % 8);
}

static void survives_random_code(void **state)
{
	uint32_t seed = 2463534242;
	struct call_site site;
	int error, i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		image__start(1 + i % 5);
		fill_at_random(&seed);
		image__finish();
		error = image__read(image.code_count - 1, &site);
		assert_true(error == 0 || error == -EINVAL || error == -EFAULT);
		assert_non_null(memchr(site.name, '\0', sizeof(site.name)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_five_minor_versions),
		cmocka_unit_test(has_no_rows_for_opcodes_that_do_not_exist),
		cmocka_unit_test(names_events_as_each_version_does),
		cmocka_unit_test(follows_a_value_that_was_moved),
		cmocka_unit_test(ends_where_moves_do_not_go_down),
		cmocka_unit_test(follows_the_longest_chain_of_moves),
		cmocka_unit_test(does_not_trust_what_a_jump_may_have_skipped),
		cmocka_unit_test(names_a_constant_of_the_extra_argument),
		cmocka_unit_test(does_not_take_what_a_closure_captures_for_code),
		cmocka_unit_test(takes_self_for_the_writer_of_two_registers_in_5_1),
		cmocka_unit_test(skips_the_count_of_a_list_in_5_1),
		cmocka_unit_test(names_what_was_moved_as_of_the_call_in_5_1),
		cmocka_unit_test(names_what_was_moved_as_of_the_move_since_5_2),
		cmocka_unit_test(takes_a_loop_for_the_writer_of_its_variables_in_5_1),
		cmocka_unit_test(distrusts_a_tested_register_up_to_5_2),
		cmocka_unit_test(refuses_opcodes_that_do_not_exist),
		cmocka_unit_test(refuses_a_version_without_a_table),
		cmocka_unit_test(gives_up_on_work_without_end),
		cmocka_unit_test(survives_random_code),
	};

	return cmocka_run_group_tests_name("bytecode_puc", tests, NULL, NULL);
}
