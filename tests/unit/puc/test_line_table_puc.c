/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "puc/line_table_puc.h"
#include "puc_image.h"

#define ABSOLUTE (-128)

static int8_t differences[CODE_MAX];
static int32_t lines[CODE_MAX];
static int32_t absolute[CODE_MAX][2];

/* A prototype of `count` instructions that is defined on line 10. */
static void start(int minor, uint32_t count)
{
	const struct ls_puc_layout *layout = &image.layout;

	image__start(minor);
	while (image.code_count < count)
		image__add(MOVE, 0, 0, 0);
	image__finish();
	memset(differences, 0, sizeof(differences));
	image__put(image.proto, layout->proto_line_defined, 10, 4);
	image__put(image.proto, layout->proto_line_info,
		   address_of(layout->proto_abs_line_info ? (void *)differences : (void *)lines),
		   8);
	image__put(image.proto, layout->proto_line_info_count, count, 4);
	if (!layout->proto_abs_line_info)
		return;
	image__put(image.proto, layout->proto_abs_line_info, address_of(absolute), 8);
	image__put(image.proto, layout->proto_abs_line_info_count, 0, 4);
}

static void set_absolute(uint32_t at, int32_t pc, int32_t line)
{
	absolute[at][0] = pc;
	absolute[at][1] = line;
	image__put(image.proto, image.layout.proto_abs_line_info_count, at + 1, 4);
}

static int read_table(struct line_table **table)
{
	struct target_memory memory = {.pid = getpid()};

	return line_table_puc__read(&memory, &image.layout, address_of(image.proto), table);
}

static void expect_error(int error)
{
	struct line_table *table = (void *)-1;

	assert_int_equal(read_table(&table), error);
	assert_null(table);
}

static void expect_lines(const uint32_t *expected, uint32_t count)
{
	struct line_table *table;

	assert_int_equal(read_table(&table), 0);
	assert_non_null(table);
	for (uint32_t pc = 0; pc < count; pc++)
		assert_int_equal(line_table__line(table, pc), expected[pc]);
	assert_int_equal(line_table__line(table, count), 0);
	assert_int_equal(line_table__line(table, UINT32_MAX), 0);
	line_table__free(table);
}

static void takes_lines_as_they_are_to_5_3(void **state)
{
	static const uint32_t expected[] = {11, 11, 12, 15, 12, 12, 20};

	(void)state;
	for (int minor = 1; minor <= 3; minor++) {
		start(minor, 7);
		memcpy(lines, expected, sizeof(expected));
		expect_lines(expected, 7);
	}
}

static void adds_up_differences_from_5_4_on(void **state)
{
	static const int8_t from[] = {1, 0, 1, 3, -3, 0, 127};
	static const uint32_t expected[] = {11, 11, 12, 15, 12, 12, 139};

	(void)state;
	for (int minor = 4; minor <= 5; minor++) {
		start(minor, 7);
		memcpy(differences, from, sizeof(from));
		expect_lines(expected, 7);
	}
}

static void goes_on_from_absolute_lines(void **state)
{
	static const int8_t from[] = {1, ABSOLUTE, 2, ABSOLUTE, ABSOLUTE, -1};
	static const uint32_t expected[] = {11, 5000, 5002, 70000, 12, 11};

	(void)state;
	start(4, 6);
	memcpy(differences, from, sizeof(from));
	set_absolute(0, 1, 5000);
	set_absolute(1, 3, 70000);
	set_absolute(2, 4, 12);
	expect_lines(expected, 6);
}

static void keeps_no_more_than_it_needs(void **state)
{
	struct line_table *table;
	size_t one;

	(void)state;
	start(4, 1);
	assert_int_equal(read_table(&table), 0);
	one = line_table__size(table);
	line_table__free(table);
	start(4, 500);
	assert_int_equal(read_table(&table), 0);
	assert_int_equal(line_table__size(table), one);
	assert_int_equal(line_table__line(table, 499), 10);
	line_table__free(table);
}

static void stripped_chunks_have_none(void **state)
{
	struct line_table *table = (void *)-1;

	(void)state;
	for (int minor = 1; minor <= 5; minor++) {
		start(minor, 7);
		image__put(image.proto, image.layout.proto_line_info, 0, 8);
		image__put(image.proto, image.layout.proto_line_info_count, 0, 4);
		assert_int_equal(read_table(&table), 0);
		assert_null(table);
	}
	assert_int_equal(line_table__line(NULL, 0), 0);
	assert_int_equal(line_table__size(NULL), 0);
	line_table__free(NULL);
}

static void refuses_what_makes_no_sense(void **state)
{
	(void)state;
	start(4, 7);
	image__put(image.proto, image.layout.proto_line_info_count, 6, 4);
	expect_error(-EINVAL);
	start(4, 7);
	image__put(image.proto, 8, image.layout.proto_tag + 1, 1);
	expect_error(-EINVAL);
	start(4, 7);
	image__put(image.proto, image.layout.proto_abs_line_info_count, 8, 4);
	expect_error(-EINVAL);
	start(4, 7);
	differences[0] = -11;
	expect_error(-EINVAL);
	start(3, 7);
	lines[3] = -1;
	expect_error(-EINVAL);
	lines[3] = 1;
}

static void refuses_absolute_lines_of_other_instructions(void **state)
{
	(void)state;
	start(4, 7);
	differences[2] = ABSOLUTE;
	expect_error(-EINVAL); /* there is none */
	set_absolute(0, 3, 100);
	expect_error(-EINVAL);
	set_absolute(0, 2, -100);
	expect_error(-EINVAL);
	set_absolute(0, 2, 100);
	expect_lines((const uint32_t[]){10, 10, 100, 100, 100, 100, 100}, 7);
}

static void refuses_sizes_that_nothing_has(void **state)
{
	static const uint32_t sizes[] = {UINT32_MAX, 1U << 31, INT32_MAX, (4U << 20) + 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int minor = 3; minor <= 4; minor++) {
			start(minor, 7);
			image__put(image.proto, image.layout.proto_code_count, sizes[i], 4);
			image__put(image.proto, image.layout.proto_line_info_count, sizes[i], 4);
			expect_error(sizes[i] > INT32_MAX ? -EINVAL : -E2BIG);
		}
	start(4, 7);
	image__put(image.proto, image.layout.proto_code_count, 0, 4);
	image__put(image.proto, image.layout.proto_line_info_count, 0, 4);
	expect_error(-EINVAL);
}

static void says_what_is_not_there(void **state)
{
	struct target_memory memory = {.pid = getpid()};
	struct line_table *table = (void *)-1;

	(void)state;
	for (int minor = 3; minor <= 4; minor++) {
		start(minor, 7);
		image__put(image.proto, image.layout.proto_line_info, 0x10000, 8);
		expect_error(-EFAULT);
	}
	assert_int_equal(line_table_puc__read(&memory, &image.layout, 0x10000, &table), -EFAULT);
	assert_null(table);
	start(4, 7);
	differences[2] = ABSOLUTE;
	set_absolute(0, 2, 100);
	image__put(image.proto, image.layout.proto_abs_line_info, 0x10000, 8);
	expect_error(-EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_lines_as_they_are_to_5_3),
		cmocka_unit_test(adds_up_differences_from_5_4_on),
		cmocka_unit_test(goes_on_from_absolute_lines),
		cmocka_unit_test(keeps_no_more_than_it_needs),
		cmocka_unit_test(stripped_chunks_have_none),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(refuses_absolute_lines_of_other_instructions),
		cmocka_unit_test(refuses_sizes_that_nothing_has),
		cmocka_unit_test(says_what_is_not_there),
	};

	return cmocka_run_group_tests_name("line_table_puc", tests, NULL, NULL);
}
