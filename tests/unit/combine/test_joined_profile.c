/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One recording of several: sums, functions that look alike, sessions side by side. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "combine/joined_profile.h"
#include "random_profile.h"

#define MS UINT64_C(1000000)

static const struct ls_profile_function functions[] = {
	{},
	{.source = "a.lua", .name = "work", .line = 3, .first_line = 0, .line_count = 1},
	{.source = "a.lua", .name = "work", .line = 3, .flags = LS_FUNCTION_NATIVE},
};

static const struct ls_profile_line lines[] = {{.line = 4, .self_ns = 5000, .samples = 5}};

static const struct ls_profile_node nodes[] = {
	{},
	{.first_child = 2},
	{.parent = 1, .function = 1, .next_sibling = 3, .self_ns = 5000, .samples = 5},
	{.parent = 1, .function = 2, .self_ns = 2000, .samples = 2},
};

static const struct ls_profile_category category = {.name = "lua", .node = 1};

static const struct ls_profile_sample samples[] = {
	{.time_ns = 1 * MS, .node = 2, .thread = 7},
	{.time_ns = 9 * MS, .node = 3, .thread = 7},
};

static const struct ls_profile_event mark = {.time_ns = 4 * MS, .kind = "mark", .text = "here"};

/* A recording of ten milliseconds that begins at `start_ms`. */
static struct ls_profile recording(uint64_t start_ms, const char *target)
{
	return (struct ls_profile){
		.functions = functions,
		.function_count = 2,
		.lines = lines,
		.line_count = 1,
		.nodes = nodes,
		.node_count = 3,
		.categories = &category,
		.category_count = 1,
		.samples = samples,
		.sample_count = 2,
		.recorder = {.version = "1",
			     .target = target,
			     .period_ns = MS,
			     .start_ms = start_ms,
			     .duration_ns = 10 * MS,
			     .cpu_ns = 7000,
			     .samples = 7,
			     .events = &mark,
			     .event_count = 1},
	};
}

static struct joined_profile *join(const struct ls_profile *left, const struct ls_profile *right,
				   enum joined_categories categories)
{
	const struct ls_profile *from[] = {left, right};
	struct joined_profile *joined;

	assert_int_equal(joined_profile__new(from, 2, categories, &joined), 0);
	return joined;
}

static uint64_t self_ns(const struct ls_profile *profile)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++)
		sum += profile->nodes[id].self_ns;
	return sum;
}

static void time_samples_and_lines_of_what_looks_alike_add_up(void **state)
{
	struct ls_profile left = recording(1000, "a"), right = recording(1000, "a");
	struct joined_profile *joined = join(&left, &right, JOINED_APART);
	const struct ls_profile *whole = joined_profile__profile(joined);

	(void)state;
	assert_int_equal(whole->category_count, 1);
	assert_string_equal(whole->categories[0].name, "lua, a");
	assert_int_equal(whole->function_count, 2);
	assert_int_equal(whole->node_count, 3);
	assert_int_equal(whole->nodes[2].self_ns, 10000);
	assert_int_equal(whole->nodes[2].samples, 10);
	assert_int_equal(whole->functions[1].line_count, 1);
	assert_int_equal(whole->lines[whole->functions[1].first_line].self_ns, 10000);
	assert_int_equal(whole->functions[2].line_count, 0);
	assert_int_equal(whole->recorder.cpu_ns, 14000);
	assert_int_equal(whole->recorder.samples, 14);
	assert_int_equal(whole->recorder.period_ns, MS);
	joined_profile__free(joined);
}

static void processes_stay_apart_unless_names_or_nothing_counts(void **state)
{
	static const struct {
		enum joined_categories categories;
		uint32_t count;
		const char *first;
	} cases[] = {
		{JOINED_APART, 2, "lua, a"}, {JOINED_BY_NAME, 1, "lua"}, {JOINED_AS_ONE, 1, "all"}};
	struct ls_profile left = recording(1000, "a"), right = recording(1000, "b");

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct joined_profile *joined = join(&left, &right, cases[i].categories);
		const struct ls_profile *whole = joined_profile__profile(joined);

		assert_int_equal(whole->category_count, cases[i].count);
		assert_string_equal(whole->categories[0].name, cases[i].first);
		assert_int_equal(self_ns(whole), 14000);
		assert_null(whole->recorder.target);
		joined_profile__free(joined);
	}
}

static void samples_and_marks_are_on_one_clock_and_gaps_are_pauses(void **state)
{
	struct ls_profile late = recording(1030, "a"), early = recording(1000, "a");
	struct joined_profile *joined = join(&late, &early, JOINED_APART);
	const struct ls_profile *whole = joined_profile__profile(joined);

	(void)state;
	assert_false(joined_profile__lost_order(joined));
	assert_int_equal(whole->recorder.start_ms, 1000);
	assert_int_equal(whole->recorder.duration_ns, 40 * MS);
	assert_int_equal(whole->recorder.paused_ns, 20 * MS);
	assert_int_equal(whole->sample_count, 4);
	assert_int_equal(whole->samples[0].time_ns, 1 * MS);
	assert_int_equal(whole->samples[3].time_ns, 39 * MS);
	assert_int_equal(whole->recorder.event_count, 2);
	assert_int_equal(whole->recorder.events[1].time_ns, 34 * MS);
	joined_profile__free(joined);
}

static void without_an_order_in_one_the_whole_has_none_and_gaps_vanish(void **state)
{
	struct ls_profile left = recording(1000, "a"), right = recording(1030, "a");
	struct joined_profile *joined;
	const struct ls_profile *whole;

	(void)state;
	right.samples = NULL;
	right.sample_count = 0;
	joined = join(&left, &right, JOINED_APART);
	whole = joined_profile__profile(joined);
	assert_true(joined_profile__lost_order(joined));
	assert_int_equal(whole->sample_count, 0);
	assert_int_equal(whole->recorder.duration_ns, 20 * MS);
	assert_int_equal(whole->recorder.paused_ns, 0);
	joined_profile__free(joined);
}

static void recordings_that_do_not_tell_their_start_follow_each_other(void **state)
{
	struct ls_profile left = recording(0, "a"), right = recording(0, "a");
	struct joined_profile *joined = join(&left, &right, JOINED_APART);

	(void)state;
	assert_int_equal(joined_profile__profile(joined)->recorder.duration_ns, 20 * MS);
	joined_profile__free(joined);
}

static void what_is_known_of_gc_in_one_is_kept(void **state)
{
	struct ls_profile left = recording(1000, "a"), right = recording(1030, "a");
	const struct ls_profile_recorder *recorder;
	struct joined_profile *joined;

	(void)state;
	left.recorder.gc = "by its constants";
	right.recorder.gc_unknown = "no functions look like it";
	joined = join(&left, &right, JOINED_APART);
	recorder = &joined_profile__profile(joined)->recorder;
	assert_string_equal(recorder->gc, "by its constants");
	assert_string_equal(recorder->gc_unknown, "no functions look like it");
	joined_profile__free(joined);
}

static void random_recordings_lose_nothing_and_ids_are_mapped(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct random_profile_options options = {
			.seed = seed, .nodes = 300 * seed, .depth = 10 * seed};
		struct random_profile *a = random_profile__new(&options), *b;
		const struct ls_profile *left = random_profile__profile(a), *right;
		struct joined_profile *joined;

		options.seed += 100;
		b = random_profile__new(&options);
		right = random_profile__profile(b);
		joined = join(left, right, JOINED_BY_NAME);
		assert_int_equal(self_ns(joined_profile__profile(joined)),
				 self_ns(left) + self_ns(right));
		for (uint32_t id = 1; id <= right->node_count; id++) {
			uint32_t node = joined_profile__node(joined, 1, id);
			uint32_t function =
				joined_profile__function(joined, 1, right->nodes[id].function);

			assert_int_equal(joined_profile__profile(joined)->nodes[node].function,
					 function);
		}
		joined_profile__free(joined);
		random_profile__free(a);
		random_profile__free(b);
	}
}

static void more_time_than_a_file_holds_is_refused(void **state)
{
	struct ls_profile_node full[] = {{}, {.self_ns = UINT64_C(9007199254740991000)}};
	struct ls_profile one = {.nodes = full,
				 .node_count = 1,
				 .functions = functions,
				 .categories = &category,
				 .category_count = 1};
	const struct ls_profile *from[] = {&one, &one};
	struct joined_profile *joined;

	(void)state;
	assert_int_equal(joined_profile__new(from, 2, JOINED_APART, &joined), -ERANGE);
	assert_null(joined);
	assert_int_equal(joined_profile__new(from, 1, JOINED_APART, &joined), 0);
	joined_profile__free(joined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_samples_and_lines_of_what_looks_alike_add_up),
		cmocka_unit_test(processes_stay_apart_unless_names_or_nothing_counts),
		cmocka_unit_test(samples_and_marks_are_on_one_clock_and_gaps_are_pauses),
		cmocka_unit_test(without_an_order_in_one_the_whole_has_none_and_gaps_vanish),
		cmocka_unit_test(recordings_that_do_not_tell_their_start_follow_each_other),
		cmocka_unit_test(what_is_known_of_gc_in_one_is_kept),
		cmocka_unit_test(random_recordings_lose_nothing_and_ids_are_mapped),
		cmocka_unit_test(more_time_than_a_file_holds_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
