/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines: a script whose hot line is known (programs/lines.lua), with Debian's interpreters.
 * tests/oracle/test_lines.c checks the line of each sample.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "spying.h"

#define SCRIPT "lines.lua"

static const json_t *function_at(const struct scriptprofile *profile, int id)
{
	return json_array_get(json_object_get(profile->document, "Functions"), id - 1);
}

static int64_t current_line(const struct scriptprofile *profile, int id)
{
	return json_integer_value(json_object_get(function_at(profile, id), "CurrentLine"));
}

/* The own time of the functions with this name at this line, or at any line for -1. */
static int64_t own_at(const struct scriptprofile *profile, const char *name, int line)
{
	int64_t us = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].name, name) &&
		    (line < 0 || current_line(profile, id) == line))
			us += profile->functions[id].self_us;
	return us;
}

static int64_t total_at(const struct scriptprofile *profile, const char *name, int line)
{
	int64_t us = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].name, name) && current_line(profile, id) == line)
			us += profile->functions[id].total_us;
	return us;
}

static const json_t *lines_of(const struct scriptprofile *profile, const char *name, int64_t *own)
{
	for (int id = 1; id <= profile->function_count; id++) {
		if (strcmp(profile->functions[id].name, name))
			continue;
		*own = profile->functions[id].self_us;
		return json_object_get(function_at(profile, id), "Lines");
	}
	fail_msg("no function '%s'", name);
	return NULL;
}

/* The time in a histogram at this line, or in all of it for -1. */
static int64_t histogram_at(const json_t *lines, int line)
{
	int64_t us = 0;

	for (size_t i = 0; i < json_array_size(lines); i++) {
		const json_t *entry = json_array_get(lines, i);

		if (line < 0 || json_integer_value(json_array_get(entry, 0)) == line)
			us += json_integer_value(json_array_get(entry, 1));
	}
	return us;
}

static struct child *start_target(struct stage *stage, const char *program)
{
	struct child *target = start(stage, program, program_source(SCRIPT));

	child__await_output(stage, target, "ready");
	child__tell(target, "");
	return target;
}

static void check_lines(struct stage *stage, const char *program)
{
	struct child *target = start_target(stage, program);
	struct scriptprofile *folded, *split;
	const json_t *lines;
	int64_t own, all;

	folded = record(stage, target->pid, "-d", "1", "-F", "10khz", "-q");
	split = record(stage, target->pid, "-d", "1", "-F", "10khz", "-q", "--lines");

	lines = lines_of(folded, "work", &own);
	printf("%s: %.1f%% at the hot line, %.2f%% at one that never runs, %.2f%% at none\n",
	       program, 100.0 * histogram_at(lines, line_in(SCRIPT, "-- hot")) / own,
	       100.0 * histogram_at(lines, line_in(SCRIPT, "-- never")) / own,
	       100.0 * (own - histogram_at(lines, -1)) / own);
	assert_in_range(histogram_at(lines, -1), own, own);
	assert_in_range(histogram_at(lines, line_in(SCRIPT, "-- hot")), own * 60 / 100,
			own * 90 / 100);
	assert_in_range(histogram_at(lines, line_in(SCRIPT, "-- never")), 0, own / 50);
	assert_int_equal(scriptprofile__recorded(folded, "UnknownLines"), 0);

	all = own_at(split, "work", -1);
	assert_in_range(own_at(split, "work", line_in(SCRIPT, "-- hot")), all * 60 / 100,
			all * 90 / 100);
	assert_in_range(own_at(split, "work", line_in(SCRIPT, "-- never")), 0, all / 50);
	assert_int_equal(own_at(split, "work", 0), 0);
	/* A caller's line is the one of its call. */
	assert_in_range(total_at(split, "caller", line_in(SCRIPT, "-- calls")), all * 99 / 100,
			split->all_us);
}

static void lines_by(void **state, const char *program)
{
	need_to_record();
	if (!has_program(program)) {
		if (skips_are_failures())
			fail_msg("package '%s' is missing", program);
		skip_because("its package is missing");
	}
	check_lines(*state, program);
}

static void shows_the_lines_of_5_1(void **state)
{
	lines_by(state, "lua5.1");
}

static void shows_the_lines_of_5_2(void **state)
{
	lines_by(state, "lua5.2");
}

static void shows_the_lines_of_5_3(void **state)
{
	lines_by(state, "lua5.3");
}

static void shows_the_lines_of_5_4(void **state)
{
	lines_by(state, "lua5.4");
}

/* A stripped chunk has no lines; luaspy must not report this as an error. */
static void invents_no_lines_for_a_stripped_chunk(void **state)
{
	static const char script[] = "local f = assert(loadfile(arg[1]))\n"
				     "assert(load(string.dump(f, true)))()";
	struct scriptprofile *profile;
	struct child *target;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	write_file(in_folder(*state, "strip.lua"), script, strlen(script));
	target = start(*state, "lua5.4", "strip.lua", program_source(SCRIPT));
	child__await_output(*state, target, "ready");
	child__tell(target, "");
	profile = record(*state, target->pid, "-d", "500ms", "-q");
	assert_in_range(scriptprofile__self_us(profile, "\\?", NULL, -1), profile->all_us / 2,
			profile->all_us);
	for (int id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].source, "?"))
			assert_null(json_object_get(function_at(profile, id), "Lines"));
	assert_int_equal(scriptprofile__recorded(profile, "UnknownLines"), 0);
}

static void shows_the_hottest_line_beside_its_function(void **state)
{
	struct child *target, *spy;
	char expected[64];

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_target(*state, "lua5.4");
	spy = start_record(*state, target->pid, "-d", "500ms", "--lines", "-o", "x.json");
	assert_int_equal(child__wait(spy, 20), 0);
	snprintf(expected, sizeof(expected), "%s:%d\n", SCRIPT, line_in(SCRIPT, "-- hot"));
	assert_non_null(strstr(child__errors(*state, spy), expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_lines_of_5_1),
		staged(shows_the_lines_of_5_2),
		staged(shows_the_lines_of_5_3),
		staged(shows_the_lines_of_5_4),
		staged(invents_no_lines_for_a_stripped_chunk),
		staged(shows_the_hottest_line_beside_its_function),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
