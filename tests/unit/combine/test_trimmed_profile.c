/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a recording: they add up to the whole, and have only what ran in them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "combine/trimmed_profile.h"
#include "random_profile.h"

static struct trimmed_profile *trim(const struct ls_profile *from, uint64_t from_ns, uint64_t to_ns)
{
	struct trimmed_profile *trimmed;

	assert_int_equal(trimmed_profile__new(from, from_ns, to_ns, &trimmed), 0);
	return trimmed;
}

static uint64_t self_ns(const struct ls_profile *profile)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++)
		sum += profile->nodes[id].self_ns;
	return sum;
}

static uint64_t end_of(const struct ls_profile *profile)
{
	return profile->samples[profile->sample_count - 1].time_ns -
	       profile->recorder.timed_from_ns + 1;
}

static void parts_add_up_to_the_whole(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct random_profile_options options = {
			.seed = seed, .nodes = 200 * seed, .depth = 20, .has_timeline = true};
		struct random_profile *random = random_profile__new(&options);
		const struct ls_profile *whole = random_profile__profile(random);
		uint64_t end_ns = end_of(whole), time_ns = 0, samples = 0;

		for (uint64_t part = 0; part < 7; part++) {
			struct trimmed_profile *trimmed =
				trim(whole, end_ns * part / 7, end_ns * (part + 1) / 7);
			const struct ls_profile *profile = trimmed_profile__profile(trimmed);

			time_ns += self_ns(profile);
			samples += profile->sample_count;
			assert_int_equal(profile->recorder.samples, profile->sample_count);
			if (part == 6)
				time_ns += trimmed_profile__left_out_ns(trimmed);
			trimmed_profile__free(trimmed);
		}
		assert_int_equal(time_ns, self_ns(whole));
		assert_int_equal(samples, whole->sample_count);
		random_profile__free(random);
	}
}

static const struct ls_profile_function functions[] = {
	{}, {.source = "a.lua", .name = "load"}, {.source = "a.lua", .name = "serve"}};
static const struct ls_profile_node nodes[] = {
	{},
	{.first_child = 2},
	{.parent = 1, .function = 1, .next_sibling = 3, .self_ns = 300, .samples = 1},
	{.parent = 1, .function = 2, .self_ns = 900, .samples = 3}};
static const struct ls_profile_category category = {.name = "lua", .node = 1};
static const struct ls_profile_sample samples[] = {{.time_ns = 1100, .node = 2},
						   {.time_ns = 1200, .node = 3},
						   {.time_ns = 1300, .node = 3},
						   {.time_ns = 1400, .node = 3}};
static const struct ls_profile_event events[] = {{.time_ns = 50, .kind = "mark", .text = "load"},
						 {.time_ns = 120, .kind = "pause"},
						 {.time_ns = 140, .kind = "resume"},
						 {.time_ns = 150, .kind = "mark", .text = "serve"},
						 {.time_ns = 350, .kind = "mark", .text = "load"}};

static struct ls_profile recording(void)
{
	return (struct ls_profile){.functions = functions,
				   .function_count = 2,
				   .nodes = nodes,
				   .node_count = 3,
				   .categories = &category,
				   .category_count = 1,
				   .samples = samples,
				   .sample_count = 4,
				   .recorder = {.timed_from_ns = 1000,
						.start_ms = 5000,
						.duration_ns = 500,
						.events = events,
						.event_count = 5}};
}

static void a_part_has_only_what_ran_in_it(void **state)
{
	struct ls_profile whole = recording();
	struct trimmed_profile *trimmed = trim(&whole, 200, 400);
	const struct ls_profile *part = trimmed_profile__profile(trimmed);

	(void)state;
	assert_int_equal(part->node_count, 2);
	assert_string_equal(part->functions[part->nodes[2].function].name, "serve");
	assert_int_equal(part->nodes[2].self_ns, 600);
	assert_int_equal(part->nodes[2].samples, 2);
	assert_int_equal(part->sample_count, 2);
	assert_int_equal(part->samples[0].time_ns, 0);
	assert_int_equal(part->samples[1].time_ns, 100);
	assert_int_equal(part->recorder.duration_ns, 200);
	assert_int_equal(part->recorder.event_count, 1);
	assert_int_equal(part->recorder.events[0].time_ns, 150);
	trimmed_profile__free(trimmed);
}

static void a_pause_counts_as_far_as_it_is_inside(void **state)
{
	struct ls_profile whole = recording();
	struct trimmed_profile *trimmed = trim(&whole, 130, 400);

	(void)state;
	assert_int_equal(trimmed_profile__profile(trimmed)->recorder.paused_ns, 10);
	trimmed_profile__free(trimmed);
}

static void marks_are_found_by_text_and_from_a_time_on(void **state)
{
	struct ls_profile whole = recording();
	uint64_t time_ns = 0;

	(void)state;
	assert_true(trimmed_profile__find_mark(&whole, "load", 0, &time_ns));
	assert_int_equal(time_ns, 50);
	assert_true(trimmed_profile__find_mark(&whole, NULL, 51, &time_ns));
	assert_int_equal(time_ns, 150);
	assert_true(trimmed_profile__find_mark(&whole, "load", 51, &time_ns));
	assert_int_equal(time_ns, 350);
	assert_false(trimmed_profile__find_mark(&whole, "serve", 151, &time_ns));
	assert_false(trimmed_profile__find_mark(&whole, "pause", 0, &time_ns));
}

static void sums_without_an_order_are_refused(void **state)
{
	struct ls_profile whole = recording();
	struct trimmed_profile *trimmed;

	(void)state;
	whole.sample_count = 0;
	assert_int_equal(trimmed_profile__new(&whole, 0, 100, &trimmed), -EINVAL);
	assert_null(trimmed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_to_the_whole),
		cmocka_unit_test(a_part_has_only_what_ran_in_it),
		cmocka_unit_test(a_pause_counts_as_far_as_it_is_inside),
		cmocka_unit_test(marks_are_found_by_text_and_from_a_time_on),
		cmocka_unit_test(sums_without_an_order_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
