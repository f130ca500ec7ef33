/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The statistics of diff, on draws whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "combine/diff_statistics.h"

#define ITEMS      40
#define RECORDINGS 8
#define ALPHA      0.05

struct experiment {
	size_t before, after;
	unsigned samples;
	double run_noise; /* by how much each run's functions differ, in truth */
	double assumed;   /* struct diff_statistics.noise */
	double slower;    /* how much longer item 3 takes after */
};

static uint64_t random_state = 88172645463325252ULL;

static double draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double draw_normal(void)
{
	return sqrt(-2 * log(draw() + 1e-300)) * cos(2 * M_PI * draw());
}

/* A recording: samples fall on items in proportion to the times of a run. */
static void record(const struct experiment *experiment, int is_after, double *values)
{
	double weights[ITEMS], sum = 0;

	for (int i = 0; i < ITEMS; i++) {
		weights[i] = exp(-i / 8.0) * exp(experiment->run_noise * draw_normal());
		if (is_after && i == 3)
			weights[i] *= 1 + experiment->slower;
		sum += weights[i];
		values[i] = 0;
	}
	for (unsigned n = 0; n < experiment->samples; n++) {
		double at = draw() * sum;
		int i = 0;

		while (i < ITEMS - 1 && at >= weights[i])
			at -= weights[i++];
		values[i] += 1.0 / experiment->samples;
	}
}

static double run(const struct experiment *experiment, struct diff_row *rows)
{
	double values[RECORDINGS * ITEMS], samples[RECORDINGS], grain[RECORDINGS];
	struct diff_statistics statistics = {.before_count = experiment->before,
					     .count = experiment->before + experiment->after,
					     .samples = samples,
					     .grain = grain,
					     .are_shares = true,
					     .noise = experiment->assumed,
					     .alpha = ALPHA};

	for (size_t i = 0; i < statistics.count; i++) {
		record(experiment, i >= experiment->before, &values[i * ITEMS]);
		samples[i] = experiment->samples;
		grain[i] = 1.0 / experiment->samples;
	}
	return diff_statistics__compare(&statistics, values, ITEMS, rows);
}

/* The share of experiments in which something is called different. */
static double alarms(const struct experiment *experiment, int rounds)
{
	struct diff_row rows[ITEMS];
	int count = 0;

	for (int round = 0; round < rounds; round++) {
		int is_alarm = 0;

		assert_true(run(experiment, rows) >= 0);
		for (int i = 0; i < ITEMS; i++)
			is_alarm |= rows[i].verdict != DIFF_NOISE;
		count += is_alarm;
	}
	return (double)count / rounds;
}

/* With 500 rounds, 0.05 is seen as 0.08 or more in one of a thousand tests. */
static void assert_false_alarms(const char *name, struct experiment experiment)
{
	double share = alarms(&experiment, 500);

	print_message("%s: false alarms in %.1f%% of 500 comparisons (at most %.0f%%)\n", name,
		      100 * share, 100 * ALPHA);
	assert_true(share < 0.08);
}

static void sampling_alone_raises_no_more_alarms_than_alpha(void **state)
{
	(void)state;
	assert_false_alarms("one and one, sampling alone",
			    (struct experiment){.before = 1, .after = 1, .samples = 3000});
	assert_false_alarms("four and four, sampling alone",
			    (struct experiment){.before = 4, .after = 4, .samples = 2000});
}

static void runs_that_differ_as_assumed_raise_no_more_either(void **state)
{
	(void)state;
	assert_false_alarms("one and one, runs differ by 3%", (struct experiment){.before = 1,
										  .after = 1,
										  .samples = 10000,
										  .run_noise = 0.03,
										  .assumed = 0.03});
}

static void several_recordings_tell_how_much_runs_differ(void **state)
{
	(void)state;
	assert_false_alarms("three and three, runs differ by 15%",
			    (struct experiment){.before = 3,
						.after = 3,
						.samples = 5000,
						.run_noise = 0.15,
						.assumed = 0.01});
	assert_false_alarms("one and four, runs differ by 15%",
			    (struct experiment){.before = 1,
						.after = 4,
						.samples = 5000,
						.run_noise = 0.15,
						.assumed = 0.01});
}

/* What the tests above are worth: without the noise of runs, there are alarms nearly always. */
static void runs_that_differ_more_than_assumed_do_raise_alarms(void **state)
{
	struct experiment experiment = {
		.before = 1, .after = 1, .samples = 10000, .run_noise = 0.15, .assumed = 0};
	double share = alarms(&experiment, 100);

	(void)state;
	print_message("runs differ by 15%%, which nobody says: alarms in %.0f%%\n", 100 * share);
	assert_true(share > 0.9);
}

static void a_third_slower_is_found(void **state)
{
	struct experiment experiment = {.before = 1,
					.after = 1,
					.samples = 20000,
					.run_noise = 0.02,
					.assumed = 0.02,
					.slower = 0.3};
	struct diff_row rows[ITEMS];
	int found = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		run(&experiment, rows);
		found += rows[3].verdict == DIFF_SLOWER;
	}
	print_message("30%% slower: found in %d of 100\n", found);
	assert_in_range(found, 95, 100);
}

static void few_samples_are_never_called_a_difference(void **state)
{
	double values[] = {0, 0.9, 0.1, 0.8};
	double samples[] = {19, 19}, grain[] = {0.1, 0.1};
	struct diff_statistics statistics = {.before_count = 1,
					     .count = 2,
					     .samples = samples,
					     .grain = grain,
					     .are_shares = true,
					     .alpha = 0.9};
	struct diff_row rows[2];

	(void)state;
	diff_statistics__compare(&statistics, values, 2, rows);
	assert_int_equal(rows[0].verdict, DIFF_NOISE);
	assert_true(rows[0].chance >= 1);
}

static void times_have_the_error_of_counts(void **state)
{
	double values[] = {0.5, 0.7}, samples[] = {1000, 1200}, grain[] = {0.001, 0.001};
	struct diff_statistics statistics = {
		.before_count = 1, .count = 2, .samples = samples, .grain = grain, .alpha = 0.01};
	struct diff_row row;

	(void)state;
	diff_statistics__compare(&statistics, values, 1, &row);
	/* 500 and 700 samples under one mean, about 609 each: sqrt(2 * 610) samples. */
	assert_true(fabs(row.error - sqrt(2 * 610) / 1000) < 0.0005);
	assert_int_equal(row.verdict, DIFF_SLOWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampling_alone_raises_no_more_alarms_than_alpha),
		cmocka_unit_test(runs_that_differ_as_assumed_raise_no_more_either),
		cmocka_unit_test(several_recordings_tell_how_much_runs_differ),
		cmocka_unit_test(runs_that_differ_more_than_assumed_do_raise_alarms),
		cmocka_unit_test(a_third_slower_is_found),
		cmocka_unit_test(few_samples_are_never_called_a_difference),
		cmocka_unit_test(times_have_the_error_of_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
