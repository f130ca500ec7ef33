/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "profile/timeline.h"

static struct ls_profile profile;

static int free_timeline(void **state)
{
	timeline__free(*state);
	return 0;
}

static struct timeline *make(void **state, size_t most)
{
	*state = timeline__new(most);
	assert_non_null(*state);
	profile = (struct ls_profile){};
	return *state;
}

static void nothing_was_sampled(void **state)
{
	timeline__export(make(state, 8), &profile);
	assert_int_equal(profile.sample_count, 0);
	assert_int_equal(profile.recorder.untimed_samples, 0);
}

static void keeps_the_order_of_time(void **state)
{
	static const uint64_t times[] = {300, 100, 200, 200, 400};
	struct timeline *timeline = make(state, 8);

	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(timeline__add(timeline, times[i], 9 - i, i + 1), 0);
	timeline__export(timeline, &profile);
	assert_int_equal(profile.sample_count, 5);
	assert_int_equal(profile.samples[0].node, 2);
	assert_int_equal(profile.samples[0].thread, 8);
	assert_int_equal(profile.samples[1].node, 4); /* of equals the lower thread */
	assert_int_equal(profile.samples[2].node, 3);
	assert_int_equal(profile.samples[3].node, 1);
	assert_int_equal(profile.samples[4].node, 5);
	/* And goes on. */
	assert_int_equal(timeline__add(timeline, 150, 1, 6), 0);
	timeline__export(timeline, &profile);
	assert_int_equal(profile.samples[1].node, 6);
}

static void keeps_the_first_and_counts_the_rest(void **state)
{
	struct timeline *timeline = make(state, 5000);

	for (uint32_t i = 0; i < 12000; i++)
		assert_int_equal(timeline__add(timeline, i, 1, i + 1), 0);
	timeline__export(timeline, &profile);
	assert_int_equal(profile.sample_count, 5000);
	assert_int_equal(profile.samples[4999].node, 5000);
	assert_int_equal(profile.recorder.untimed_samples, 7000);
}

static void follows_nodes_that_move(void **state)
{
	static const uint32_t nodes[] = {0, 3, 1};
	struct timeline *timeline = make(state, 8);

	timeline__add(timeline, 1, 1, 1);
	timeline__add(timeline, 2, 1, 2);
	timeline__add(timeline, 3, 1, 1);
	timeline__renumber(timeline, nodes);
	timeline__export(timeline, &profile);
	assert_int_equal(profile.samples[0].node, 3);
	assert_int_equal(profile.samples[1].node, 1);
	assert_int_equal(profile.samples[2].node, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define each(test) cmocka_unit_test_teardown(test, free_timeline)
		each(nothing_was_sampled),
		each(keeps_the_order_of_time),
		each(keeps_the_first_and_counts_the_rest),
		each(follows_nodes_that_move),
#undef each
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
