/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/script_split.h"

/* One of each part, then two of none; their ids are their numbers here, from 1. */
static const struct ls_profile_function functions[] = {
	{},
	{.source = "@a.lua", .name = "f", .line = 3},
	{.source = "@a.lua", .name = "f", .line = 3, .flags = LS_FUNCTION_NATIVE},
	{.source = "[C]", .name = "table.sort"},
	{.source = "GC", .name = "GC"},
	{.source = "JIT compiler", .name = "JIT compiler"},
	{.source = "trace exit", .name = "trace exit"},
	{.name = "(host)"},
	{.name = "(other)"},
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]) - 1)

static struct script_split split_of(const uint64_t self_us[FUNCTIONS])
{
	const struct ls_profile profile = {.functions = functions, .function_count = FUNCTIONS};
	uint64_t by_id[FUNCTIONS + 1] = {0};
	const struct ls_totals totals = {.function_self_us = by_id};

	memcpy(by_id + 1, self_us, FUNCTIONS * sizeof(*self_us));
	return script_split__of(&profile, &totals);
}

static void each_function_is_in_one_part(void **state)
{
	static const enum script_part parts[FUNCTIONS] = {
		SCRIPT_INTERPRETED, SCRIPT_COMPILED,   SCRIPT_C,     SCRIPT_GC,
		SCRIPT_COMPILER,    SCRIPT_TRACE_EXIT, SCRIPT_PARTS, SCRIPT_PARTS,
	};

	(void)state;
	for (size_t i = 0; i < FUNCTIONS; i++)
		assert_int_equal(script_split__part(&functions[i + 1]), parts[i]);
}

static void a_script_is_not_what_it_calls_itself(void **state)
{
	static const struct ls_profile_function scripts[] = {
		{.source = "JIT compiler", .name = "JIT compiler", .line = 1},
		{.source = "JIT compiler", .name = "trace exit"},
		{.source = "JIT compiler"},
		{.source = "GC", .name = "GC", .line = 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		assert_int_equal(script_split__part(&scripts[i]), SCRIPT_INTERPRETED);
}

static void adds_up_self_times(void **state)
{
	const struct script_split split =
		split_of((const uint64_t[]){31, 902, 40, 10, 6, 2, 500, 600});
	uint64_t sum = 0;

	(void)state;
	for (enum script_part part = 0; part < SCRIPT_PARTS; part++)
		sum += split.time[part];
	assert_int_equal(sum, 31 + 902 + 40 + 10 + 6 + 2);
	assert_int_equal(split.time[SCRIPT_COMPILED], 902);
	assert_int_equal(split.time[SCRIPT_GC], 10);
}

static void tells_whether_something_was_compiled(void **state)
{
	struct script_split split = split_of((const uint64_t[FUNCTIONS]){31, 0, 40, 10});

	(void)state;
	assert_false(script_split__has_compiled(&split));
	split.time[SCRIPT_COMPILER] = 1;
	assert_true(script_split__has_compiled(&split));
	split = (struct script_split){.time[SCRIPT_COMPILED] = 1};
	assert_true(script_split__has_compiled(&split));
}

static void describes_the_parts_in_words(void **state)
{
	struct script_split split = split_of((const uint64_t[FUNCTIONS]){31, 902, 40, 10, 6, 2});
	char text[SCRIPT_SPLIT_SIZE];

	(void)state;
	script_split__describe(&split, 1000, text, sizeof(text));
	assert_string_equal(text, "interpreted 3.1%, compiled 90.2%, C 4.0%, JIT compiler 0.6%, "
				  "trace exit 0.2%");
	script_split__describe_briefly(&split, 1000, text, sizeof(text));
	assert_string_equal(text, "interpreted 3.1% compiled 90.2% C 4.0% compiler 0.6% exit 0.2%");
	split.time[SCRIPT_COMPILER] = split.time[SCRIPT_TRACE_EXIT] = 0;
	script_split__describe(&split, 1000, text, sizeof(text));
	assert_string_equal(text, "interpreted 3.1%, compiled 90.2%, C 4.0%");
}

static void leaves_out_whole_parts_where_there_is_little_room(void **state)
{
	const struct script_split split =
		split_of((const uint64_t[FUNCTIONS]){31, 902, 40, 10, 6, 2});
	char text[SCRIPT_SPLIT_SIZE];

	(void)state;
	script_split__describe_briefly(&split, 1000, text, sizeof("interpreted 3.1%"));
	assert_string_equal(text, "interpreted 3.1%");
	script_split__describe_briefly(&split, 1000, text, sizeof("interpreted 3.1%") - 1);
	assert_string_equal(text, "");
	script_split__describe_briefly(&split, 1000, text,
				       sizeof("interpreted 3.1% compiled 90.2% C 4.0%") + 5);
	assert_string_equal(text, "interpreted 3.1% compiled 90.2% C 4.0%");
}

static void tells_what_was_added(void **state)
{
	const struct script_split more = {.time = {1, 2, 3, 4, 5, 6}};
	struct script_split now = {.time = {10, 10, 10, 10, 10, 10}}, since;

	(void)state;
	script_split__add(&now, &more);
	assert_int_equal(now.time[SCRIPT_INTERPRETED], 11);
	assert_int_equal(now.time[SCRIPT_TRACE_EXIT], 16);
	since = script_split__since(&now, &more);
	assert_int_equal(since.time[SCRIPT_C], 10);
	since = script_split__since(&more, &now);
	assert_int_equal(since.time[SCRIPT_C], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_is_in_one_part),
		cmocka_unit_test(a_script_is_not_what_it_calls_itself),
		cmocka_unit_test(adds_up_self_times),
		cmocka_unit_test(tells_whether_something_was_compiled),
		cmocka_unit_test(describes_the_parts_in_words),
		cmocka_unit_test(leaves_out_whole_parts_where_there_is_little_room),
		cmocka_unit_test(tells_what_was_added),
	};

	return cmocka_run_group_tests_name("script_split", tests, NULL, NULL);
}
