/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The source, line and name of functions that live for a millisecond (programs/chunks.lua). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define LINES       200 /* lines to choose from by a chunk's number */
#define TEXT_BEFORE 60  /* comment lines at the start of chunks without a name */

struct shares {
	int64_t chunks_us;  /* functions of chunks */
	int64_t named_us;   /* inner functions with a name */
	int64_t unnamed_us; /* inner functions without a name */
	int64_t wrong_us;   /* with another chunk's line or name, or called by another chunk */
};

static const char *const inner_names[] = {"render_", "each_"};

/* The function on this line of the chunk has no name, or one with this chunk's number. */
static bool has_true_name(const struct scriptprofile_function *function, int64_t line, long number)
{
	int inner = line == number % LINES + 2;
	const char *expected = inner_names[inner];
	size_t length = strlen(expected);

	if (!*function->name)
		return true;
	return !strncmp(function->name, expected, length) &&
	       strtol(function->name + length, NULL, 10) == number;
}

static bool is_true(const struct scriptprofile *profile, int node, const char *mode)
{
	const struct scriptprofile_function *function, *caller;
	int64_t line;
	long number;

	function = &profile->functions[profile->node_function[node]];
	caller = &profile->functions[profile->node_function[profile->node_parent[node]]];
	line = function->line;
	if (!strcmp(mode, "text")) {
		/* All share one source: only a function's name tells which chunk it is from. */
		line -= TEXT_BEFORE;
		number = strtol(strpbrk(function->name, "0123456789") ?: "0", NULL, 10);
		return !*function->name ||
		       ((line == number % LINES + 1 || line == number % LINES + 2) &&
			has_true_name(function, line, number));
	}
	number = strtol(function->source + 1, NULL, 10);
	if (!strcmp(mode, "alike"))
		line += number % LINES;
	if (strcmp(function->source, caller->source) && strcmp(caller->name, "(collected)"))
		return false;
	return (line == number % LINES + 1 || line == number % LINES + 2) &&
	       has_true_name(function, line, number);
}

static void show_wrong(const struct scriptprofile *profile, int node)
{
	const struct scriptprofile_function *function, *caller;

	function = &profile->functions[profile->node_function[node]];
	caller = &profile->functions[profile->node_function[profile->node_parent[node]]];
	print_message("wrong for %lld us: '%s' (%s:%lld), called by '%s' (%s:%lld)\n",
		      (long long)profile->node_self_us[node], function->name, function->source,
		      (long long)function->line, caller->name, caller->source,
		      (long long)caller->line);
}

static void add_up(const struct scriptprofile *profile, const char *mode, struct shares *shares)
{
	for (int node = 1; node <= profile->node_count; node++) {
		const struct scriptprofile_function *function =
			&profile->functions[profile->node_function[node]];
		int64_t us = profile->node_self_us[node];

		if (!profile->node_function[node] ||
		    (strncmp(function->source, "t0", 2) && strncmp(function->source, "[string", 7)))
			continue;
		shares->chunks_us += us;
		if (!function->line)
			continue;
		*(*function->name ? &shares->named_us : &shares->unnamed_us) += us;
		if (!is_true(profile, node, mode)) {
			shares->wrong_us += us;
			show_wrong(profile, node);
		}
	}
}

static void check_chunks(struct stage *stage, const char *program, const char *mode,
			 const char *rate)
{
	struct shares shares = {0};
	struct child *target;
	struct scriptprofile *profile;
	int64_t total, collected;

	need_to_record();
	if (!has_program(program)) {
		if (skips_are_failures())
			fail_msg("package '%s' is missing", program);
		skip_because("its package is missing");
	}
	target = start(stage, program, program_source("chunks.lua"), mode, rate);
	child__await_output(stage, target, "READY");
	profile = record(stage, target->pid, "-d", "2", "-F", "10khz", "-q");
	add_up(profile, mode, &shares);
	total = scriptprofile__samples(profile, "total");
	collected = scriptprofile__recorded(profile, "Collected");
	print_message("%s, %s, %s chunks a second: %lld of %lld samples collected; of the time in "
		      "chunks %.2f%% has a name, %.2f%% none, %.3f%% a wrong one\n",
		      program, mode, rate, (long long)collected, (long long)total,
		      100.0 * (double)shares.named_us / (double)shares.chunks_us,
		      100.0 * (double)shares.unnamed_us / (double)shares.chunks_us,
		      100.0 * (double)shares.wrong_us / (double)shares.chunks_us);
	assert_in_range(shares.chunks_us, profile->all_us / 3, profile->all_us);
	assert_int_equal(shares.wrong_us, 0);
	assert_in_range(collected, 0, total / 1000);
	/*
	 * Calls name a function that outlives them, unless the caller dies before its code can be
	 * read.
	 */
	if (strcmp(rate, "1000") == 0 || shares.named_us > shares.chunks_us / 100)
		assert_true(scriptprofile__self_us(profile, "*chunks.lua", "shared_helper", -1) >
			    profile->all_us / 10);
}

#define CHUNKS(minor)                                                                              \
	static void knows_a_thousand_chunks_a_second_of_5_##minor(void **state)                    \
	{                                                                                          \
		check_chunks(*state, "lua5." #minor, "own", "1000");                               \
	}                                                                                          \
	static void knows_ten_thousand_chunks_a_second_of_5_##minor(void **state)                  \
	{                                                                                          \
		check_chunks(*state, "lua5." #minor, "own", "10000");                              \
	}                                                                                          \
	static void knows_chunks_by_their_text_of_5_##minor(void **state)                          \
	{                                                                                          \
		check_chunks(*state, "lua5." #minor, "text", "1000");                              \
	}                                                                                          \
	static void knows_chunks_that_are_alike_of_5_##minor(void **state)                         \
	{                                                                                          \
		check_chunks(*state, "lua5." #minor, "alike", "1000");                             \
	}                                                                                          \
	static void knows_chunks_with_many_locals_of_5_##minor(void **state)                       \
	{                                                                                          \
		check_chunks(*state, "lua5." #minor, "large", "1000");                             \
	}

CHUNKS(1)
CHUNKS(2)
CHUNKS(3)
CHUNKS(4)

#define TESTS_OF(minor)                                                                            \
	staged(knows_a_thousand_chunks_a_second_of_5_##minor),                                     \
		staged(knows_ten_thousand_chunks_a_second_of_5_##minor),                           \
		staged(knows_chunks_by_their_text_of_5_##minor),                                   \
		staged(knows_chunks_that_are_alike_of_5_##minor),                                  \
		staged(knows_chunks_with_many_locals_of_5_##minor)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS_OF(1), TESTS_OF(2), TESTS_OF(3), TESTS_OF(4)};

	return cmocka_run_group_tests_name("chunks", tests, NULL, NULL);
}
