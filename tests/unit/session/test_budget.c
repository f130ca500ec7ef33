/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/budget.h"

#define MS        1000000ULL
#define PERIOD_NS MS
#define ONE_CPU   1.0

/* A window of `ms` in which the targets ran on that many processors, at the current frequency. */
static struct budget_window window(const struct budget *budget, uint64_t ms, double cpus,
				   uint64_t sample_ns, uint64_t user_ns, double fixed)
{
	uint64_t cpu_ns = (uint64_t)((double)(ms * MS) * cpus);
	uint64_t samples = cpu_ns / (budget->period_ns * budget->divisor);

	return (struct budget_window){.time_ns = ms * MS,
				      .cpu_ns = cpu_ns,
				      .samples = samples,
				      .target_ns = samples * sample_ns,
				      .user_ns = samples * user_ns,
				      .fixed_ns = (uint64_t)((double)(ms * MS) * fixed)};
}

/*
 * Runs for so many milliseconds with samples of that cost. Returns how often the frequency changed.
 */
static int run(struct budget *budget, uint64_t ms, double cpus, uint64_t sample_ns, double fixed)
{
	uint64_t waited = 0;
	int changes = 0;

	for (uint64_t at = 0; at < ms; at += 200) {
		struct budget_window next =
			window(budget, waited += 200, cpus, sample_ns, 500, fixed);

		if (!budget_window__is_full(&next))
			continue;
		changes += budget__judge(budget, &next);
		waited = 0;
	}
	return changes;
}

static void leaves_the_frequency_where_samples_are_cheap(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	assert_int_equal(budget.divisor, 1);
	assert_int_equal(run(&budget, 60000, ONE_CPU, 4000, 0.003), 0);
	assert_int_equal(budget.divisor, 1);
}

static void lowers_it_within_a_window_as_far_as_it_takes(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	/* 3.8% of the time at 1 kHz, 0.95% at 250 Hz, plus luaspy's own time for each sample. */
	assert_int_equal(run(&budget, 200, ONE_CPU, 38000, 0), 1);
	assert_int_equal(budget.divisor, 4);
	assert_int_equal(run(&budget, 60000, ONE_CPU, 38000, 0), 0);
}

static void starts_lower_where_ticks_alone_are_too_dear(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS / 10, 3000);
	assert_int_equal(budget.divisor, 4);
}

static void goes_no_lower_than_the_floor(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.0001, PERIOD_NS, 20000);
	run(&budget, 60000, ONE_CPU, 100000, 0);
	assert_int_equal(budget.divisor, 64);
	/* A frequency that is at the floor already stays as requested. */
	budget__start(&budget, 0.0001, 100 * MS, 20000);
	run(&budget, 60000, 8, 100000, 0);
	assert_int_equal(budget.divisor, 1);
}

static void raises_it_step_by_step_when_samples_are_cheap_again(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	run(&budget, 1000, ONE_CPU, 70000, 0);
	assert_int_equal(budget.divisor, 8);
	assert_int_equal(run(&budget, 2000, ONE_CPU, 4000, 0), 0);
	assert_int_equal(run(&budget, 2000, ONE_CPU, 4000, 0), 1);
	assert_int_equal(budget.divisor, 4);
	assert_int_equal(run(&budget, 10000, ONE_CPU, 4000, 0), 2);
	assert_int_equal(budget.divisor, 1);
}

/*
 * A load that is expensive for one second and cheap for five: at first, the frequency rises each
 * time.
 */
static void loses_patience_with_a_load_that_comes_and_goes(void **state)
{
	struct budget budget;
	int early = 0, late = 0;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	for (int i = 0; i < 4; i++)
		early += run(&budget, 1000, ONE_CPU, 15000, 0) +
			 run(&budget, 5000, ONE_CPU, 4000, 0);
	for (int i = 0; i < 100; i++)
		run(&budget, 1000, ONE_CPU, 15000, 0), run(&budget, 5000, ONE_CPU, 4000, 0);
	for (int i = 0; i < 4; i++)
		late += run(&budget, 1000, ONE_CPU, 15000, 0) +
			run(&budget, 5000, ONE_CPU, 4000, 0);
	assert_true(early >= 3);
	assert_int_equal(late, 0);
	/* But it is raised when the load stays cheap. */
	run(&budget, 200000, ONE_CPU, 4000, 0);
	assert_int_equal(budget.divisor, 1);
}

static void takes_back_what_an_odd_window_did(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	run(&budget, 1000, ONE_CPU, 4000, 0);
	assert_int_equal(run(&budget, 200, ONE_CPU, 40000, 0), 1);
	assert_int_equal(budget.divisor, 8);
	/* It takes longer to have so many samples. */
	assert_int_equal(run(&budget, 400, ONE_CPU, 4000, 0), 1);
	assert_int_equal(budget.divisor, 1);
	/* What was so dear for two is no odd one. */
	run(&budget, 20000, ONE_CPU, 4000, 0);
	assert_int_equal(run(&budget, 600, ONE_CPU, 40000, 0), 1);
	assert_int_equal(run(&budget, 400, ONE_CPU, 4000, 0), 0);
	assert_int_equal(budget.divisor, 8);
}

static void an_odd_window_does_not_prove_a_raise_wrong(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	run(&budget, 1000, ONE_CPU, 15000, 0);
	run(&budget, 4000, ONE_CPU, 4000, 0);
	assert_int_equal(budget.divisor, 1);
	run(&budget, 1000, ONE_CPU, 4000, 0);
	assert_int_equal(run(&budget, 200, ONE_CPU, 15000, 0), 1);
	assert_int_equal(run(&budget, 200, ONE_CPU, 4000, 0), 1);
	assert_int_equal(budget.divisor, 1);
	/* A second one does. */
	assert_int_equal(run(&budget, 200, ONE_CPU, 15000, 0), 1);
	assert_int_equal(run(&budget, 4000, ONE_CPU, 4000, 0), 0);
	assert_int_equal(budget.divisor, 2);
}

static void takes_no_odd_window_for_one_that_comes_all_the_time(void **state)
{
	struct budget budget;
	int late = 0;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	for (int i = 0; i < 100; i++)
		run(&budget, 200, ONE_CPU, 15000, 0), run(&budget, 800, ONE_CPU, 4000, 0);
	for (int i = 0; i < 20; i++)
		late += run(&budget, 200, ONE_CPU, 15000, 0) + run(&budget, 800, ONE_CPU, 4000, 0);
	assert_int_equal(late, 0);
	assert_int_equal(budget.divisor, 2);
}

/* Costs that vary by a third around the limit. */
static void does_not_swing_with_noise(void **state)
{
	struct budget budget;
	uint32_t random = 1;
	int changes = 0;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	for (int i = 0; i < 3000; i++) {
		struct budget_window next;

		random = random * 1103515245 + 12345;
		next = window(&budget, 200, ONE_CPU, 8000 + (random >> 16) % 6000, 500, 0);
		changes += budget__judge(&budget, &next);
	}
	assert_int_equal(changes, 1);
	assert_int_equal(budget.divisor, 2);
}

/* For example, a first window in which all functions are new. */
static void waits_for_luaspys_own_time_to_stay_high(void **state)
{
	struct budget budget;
	struct budget_window odd;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	odd = window(&budget, 200, ONE_CPU, 4000, 30000, 0);
	assert_int_equal(budget__judge(&budget, &odd), 0);
	for (int i = 0; i < 10; i++) {
		odd = window(&budget, 200, ONE_CPU, 4000, 30000, 0);
		budget__judge(&budget, &odd);
	}
	assert_true(budget.divisor > 1);
}

static void leaves_room_for_what_no_frequency_changes(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	/* 0.75% for samples plus 0.2% for the rest, later plus 0.4%. */
	assert_int_equal(run(&budget, 60000, ONE_CPU, 7000, 0.002), 0);
	assert_int_equal(run(&budget, 60000, ONE_CPU, 7000, 0.004), 1);
	assert_int_equal(budget.divisor, 2);
}

static void does_not_starve_where_targets_are_nearly_idle(void **state)
{
	struct budget budget;

	(void)state;
	budget__start(&budget, 0.01, PERIOD_NS, 2000);
	/* Samples cost 0.45% of the targets' time, and luaspy is a third of that. */
	assert_int_equal(run(&budget, 600000, 0.01, 4000, 0.003), 0);
	assert_int_equal(budget.divisor, 1);
}

static void judges_only_by_windows_that_are_long_and_full(void **state)
{
	(void)state;
	assert_int_equal(budget_window__is_full(
				 &(struct budget_window){.time_ns = 199 * MS, .samples = 1000}),
			 0);
	assert_int_equal(
		budget_window__is_full(&(struct budget_window){.time_ns = 999 * MS, .samples = 31}),
		0);
	assert_int_equal(
		budget_window__is_full(&(struct budget_window){.time_ns = 200 * MS, .samples = 32}),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_the_frequency_where_samples_are_cheap),
		cmocka_unit_test(lowers_it_within_a_window_as_far_as_it_takes),
		cmocka_unit_test(starts_lower_where_ticks_alone_are_too_dear),
		cmocka_unit_test(goes_no_lower_than_the_floor),
		cmocka_unit_test(raises_it_step_by_step_when_samples_are_cheap_again),
		cmocka_unit_test(loses_patience_with_a_load_that_comes_and_goes),
		cmocka_unit_test(takes_back_what_an_odd_window_did),
		cmocka_unit_test(an_odd_window_does_not_prove_a_raise_wrong),
		cmocka_unit_test(takes_no_odd_window_for_one_that_comes_all_the_time),
		cmocka_unit_test(does_not_swing_with_noise),
		cmocka_unit_test(waits_for_luaspys_own_time_to_stay_high),
		cmocka_unit_test(leaves_room_for_what_no_frequency_changes),
		cmocka_unit_test(does_not_starve_where_targets_are_nearly_idle),
		cmocka_unit_test(judges_only_by_windows_that_are_long_and_full),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
