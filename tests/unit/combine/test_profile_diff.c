/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a comparison takes for the same function before and after a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "combine/profile_diff.h"

#define MS        UINT64_C(1000000)
#define FUNCTIONS 4

/* Functions that take their time one after another. */
struct side {
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile_node nodes[FUNCTIONS + 2];
	struct ls_profile_category category;
	struct ls_profile profile;
};

static void add(struct side *side, const char *name, uint32_t line, uint64_t samples)
{
	uint32_t id = ++side->profile.function_count, node = id + 1;

	assert_true(id <= FUNCTIONS);
	side->functions[id] =
		(struct ls_profile_function){.source = "app.lua", .name = name, .line = line};
	side->nodes[node] = (struct ls_profile_node){
		.parent = 1, .function = id, .self_ns = samples * MS, .samples = samples};
	if (node > 2)
		side->nodes[node - 1].next_sibling = node;
	side->nodes[1].first_child = 2;
	side->category = (struct ls_profile_category){.name = "lua", .node = 1};
	side->profile.functions = side->functions;
	side->profile.nodes = side->nodes;
	side->profile.node_count = node;
	side->profile.categories = &side->category;
	side->profile.category_count = 1;
	side->profile.recorder.period_ns = MS;
}

static struct profile_diff *compare(const struct side *before, const struct side *after)
{
	const struct ls_profile *from[] = {&before->profile, &after->profile};
	const struct profile_diff_settings settings = {.noise = 0.02, .confidence = 0.999};
	struct profile_diff *diff;
	size_t empty;

	assert_int_equal(profile_diff__new(from, 2, 1, &settings, &diff, &empty), 0);
	return diff;
}

/* How many functions of that name and line there are. */
static int count_of(const struct profile_diff *diff, const char *name, uint32_t line)
{
	const struct ls_profile *profile = profile_diff__profile(diff);
	int count = 0;

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const char *found = profile->functions[id].name;

		count += profile->functions[id].line == line &&
			 (name ? found && !strcmp(found, name) : !found);
	}
	return count;
}

static size_t count_changes(const struct profile_diff *diff)
{
	size_t count = 0;

	for (int kind = 0; kind < PROFILE_DIFF_KINDS; kind++)
		for (uint32_t id = 1; id <= profile_diff__highest(diff, kind); id++)
			count += profile_diff__rows(diff, kind)[id].verdict != DIFF_NOISE;
	return count;
}

static void functions_that_moved_are_the_same(void **state)
{
	struct side before = {}, after = {};
	struct profile_diff *diff;

	(void)state;
	add(&before, "parse", 3, 4000);
	add(&before, "serve", 9, 6000);
	add(&after, "parse", 4, 4000);
	add(&after, "serve", 10, 6000);
	diff = compare(&before, &after);
	assert_int_equal(count_changes(diff), 0);
	assert_int_equal(profile_diff__profile(diff)->function_count, 2);
	assert_int_equal(count_of(diff, "parse", 4), 1);
	assert_int_equal(count_of(diff, "serve", 10), 1);
	profile_diff__free(diff);
}

/* One of two is where it was, so the other one is what moved. */
static void an_exact_partner_goes_first(void **state)
{
	struct side before = {}, after = {};
	struct profile_diff *diff;

	(void)state;
	add(&before, "new", 3, 4000);
	add(&before, "new", 20, 6000);
	add(&after, "new", 3, 4000);
	add(&after, "new", 22, 6000);
	diff = compare(&before, &after);
	assert_int_equal(count_changes(diff), 0);
	assert_int_equal(count_of(diff, "new", 3), 1);
	assert_int_equal(count_of(diff, "new", 22), 1);
	profile_diff__free(diff);
}

static void what_is_ambiguous_or_has_no_name_stays_apart(void **state)
{
	struct side before = {}, after = {};
	struct profile_diff *diff;

	(void)state;
	add(&before, "new", 3, 4000);
	add(&before, NULL, 5, 4000);
	add(&after, "new", 4, 2000);
	add(&after, "new", 8, 2000);
	add(&after, NULL, 6, 4000);
	diff = compare(&before, &after);
	assert_int_equal(profile_diff__profile(diff)->function_count, 5);
	assert_int_equal(count_of(diff, "new", 3), 1);
	assert_int_equal(count_of(diff, NULL, 5), 1);
	assert_int_equal(count_of(diff, NULL, 6), 1);
	profile_diff__free(diff);
}

static void a_verdict_is_what_the_chance_says(void **state)
{
	(void)state;
	for (uint64_t more = 0; more < 1500; more += 5) {
		struct side before = {}, after = {};
		const struct diff_row *row;
		struct profile_diff *diff;

		add(&before, "parse", 3, 4000);
		add(&before, "serve", 9, 6000);
		add(&after, "parse", 3, 4000 + more);
		add(&after, "serve", 9, 6000);
		diff = compare(&before, &after);
		row = &profile_diff__rows(diff, PROFILE_DIFF_SELF)[1];
		assert_in_range((uint64_t)(1e6 * row->chance), 0, 1000000);
		assert_int_equal(row->verdict != DIFF_NOISE, row->chance < 0.001);
		profile_diff__free(diff);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_moved_are_the_same),
		cmocka_unit_test(an_exact_partner_goes_first),
		cmocka_unit_test(what_is_ambiguous_or_has_no_name_stays_apart),
		cmocka_unit_test(a_verdict_is_what_the_chance_says),
	};

	return cmocka_run_group_tests_name("comparisons of recordings", tests, NULL, NULL);
}
