/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats_fixture.h"

#define with_fixture(test)                                                                         \
	cmocka_unit_test_setup_teardown(test, stats_fixture__set_up_one, stats_fixture__tear_down)

static uint32_t script(struct stats_fixture *fixture, const char *source, uint32_t line)
{
	return stats_fixture__script(fixture, source, line);
}

#define sample_stack(fixture, count, ...)                                                          \
	stats_fixture__sample_stack(fixture, "main", count, __VA_ARGS__)

static void look(struct stats_fixture *fixture)
{
	stats_fixture__look_at(fixture, NULL);
}

static const struct stats_row *row_of(const struct stats_fixture *fixture, uint32_t function)
{
	return stats_fixture__row(fixture, NULL, function);
}

static void assert_times(const struct stats_fixture *fixture, uint32_t function,
			 uint64_t recent_self, uint64_t recent_total, uint64_t self, uint64_t total)
{
	stats_fixture__expect(fixture, NULL, function, recent_self, recent_total, self, total);
}

static void is_empty_at_first(void **state)
{
	struct stats_fixture *fixture = *state;
	size_t count = 77;

	function_stats__rows(fixture->stats, &count);
	assert_int_equal(count, 0);
	look(fixture);
	function_stats__rows(fixture->stats, &count);
	assert_int_equal(count, 0);
	assert_int_equal(function_stats__recent(fixture->stats)->cpu_ns, 0);
}

static void tells_the_last_look_from_all(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 9);

	look(fixture);
	sample_stack(fixture, 10, a, b);
	sample_stack(fixture, 5, a);
	look(fixture);
	assert_times(fixture, a, 5, 15, 5, 15);
	assert_times(fixture, b, 10, 10, 10, 10);
	sample_stack(fixture, 3, a);
	look(fixture);
	assert_times(fixture, a, 3, 3, 8, 18);
	assert_times(fixture, b, 0, 0, 10, 10);
	assert_int_equal(function_stats__recent(fixture->stats)->samples, 3);
	assert_int_equal(function_stats__recent(fixture->stats)->elapsed_ns, S);
	assert_int_equal(function_stats__all(fixture->stats)->samples, 18);
	assert_int_equal(function_stats__all(fixture->stats)->elapsed_ns, 2 * S);
}

static void counts_recursion_once(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 9);

	look(fixture);
	sample_stack(fixture, 4, a, b, a, b, a);
	sample_stack(fixture, 1, b, b);
	look(fixture);
	assert_times(fixture, a, 4, 4, 4, 4);
	assert_times(fixture, b, 1, 5, 1, 5);
}

static void a_function_at_its_lines_is_one(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1);
	uint32_t second = functions__at_line(fixture->functions, a, 2);
	uint32_t third = functions__at_line(fixture->functions, a, 3);

	look(fixture);
	sample_stack(fixture, 4, second);
	sample_stack(fixture, 2, second, third);
	look(fixture);
	assert_times(fixture, a, 6, 6, 6, 6);
	assert_null(row_of(fixture, second));
	assert_null(row_of(fixture, third));
}

/* Until they disagree, what they call it makes no difference. */
static void callers_that_disagree_tell_functions_apart(void **state)
{
	struct stats_fixture *fixture = *state;
	const struct c_function_identity identity = {.file = 1, .place = 8, .name = "app+0x8"};
	uint32_t c = functions__c(fixture->functions, &identity);
	uint32_t f = functions__called(fixture->functions, c, "f");
	uint32_t g = functions__called(fixture->functions, c, "g");

	look(fixture);
	assert_int_equal(functions__vote(fixture->functions, c, "f"), 0);
	sample_stack(fixture, 100, f);
	sample_stack(fixture, 1, c);
	look(fixture);
	assert_times(fixture, c, 101, 101, 101, 101);
	assert_null(row_of(fixture, f));
	assert_int_equal(functions__vote(fixture->functions, c, "g"), 0);
	sample_stack(fixture, 3, g);
	look(fixture);
	assert_times(fixture, c, 0, 0, 1, 1);
	assert_times(fixture, f, 0, 0, 100, 100);
	assert_times(fixture, g, 0, 0, 3, 3);
	sample_stack(fixture, 2, f);
	sample_stack(fixture, 5, g);
	look(fixture);
	assert_times(fixture, c, 0, 0, 1, 1);
	assert_times(fixture, f, 2, 2, 102, 102);
	assert_times(fixture, g, 5, 5, 8, 8);
}

static void another_name_is_no_other_function(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1);

	look(fixture);
	sample_stack(fixture, 1000, a);
	look(fixture);
	assert_null(row_of(fixture, a)->name);
	assert_int_equal(functions__vote(fixture->functions, a, "work"), 0);
	sample_stack(fixture, 7, a);
	look(fixture);
	assert_times(fixture, a, 7, 7, 1007, 1007);
	assert_string_equal(row_of(fixture, a)->name, "work");
}

/* As recording's prune() does it: the samples of `gone` go to "(other)", its id to the next. */
static void evict(struct stats_fixture *fixture, uint32_t gone, uint64_t samples, uint32_t other)
{
	stats_fixture__evict(fixture, gone, samples);
	sample_stack(fixture, samples, other);
}

static void what_was_pruned_is_not_recent(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER);
	uint32_t kept = script(fixture, "kept.lua", 1), gone = script(fixture, "gone.lua", 1);
	uint32_t next;

	look(fixture);
	sample_stack(fixture, 500, gone);
	sample_stack(fixture, 50, kept);
	look(fixture);
	evict(fixture, gone, 500, other);
	sample_stack(fixture, 50, kept);
	next = script(fixture, "next.lua", 5);
	assert_int_equal(next, gone);
	sample_stack(fixture, 3, next);
	sample_stack(fixture, 2, other);
	sample_stack(fixture, 1, kept);
	look(fixture);
	assert_times(fixture, next, 3, 3, 3, 3);
	assert_string_equal(row_of(fixture, next)->source, "next.lua");
	assert_times(fixture, other, 2, 2, 502, 502);
	assert_times(fixture, kept, 1, 1, 51, 51);
}

static void what_was_pruned_after_a_reset_was_before_it(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER);
	uint32_t kept = script(fixture, "kept.lua", 1), gone = script(fixture, "gone.lua", 1);

	look(fixture);
	sample_stack(fixture, 500, gone);
	look(fixture);
	assert_int_equal(function_stats__reset(fixture->stats), 0);
	sample_stack(fixture, 20, gone);
	look(fixture);
	evict(fixture, gone, 520, other);
	sample_stack(fixture, 8, kept);
	look(fixture);
	assert_null(row_of(fixture, gone));
	assert_times(fixture, other, 0, 0, 20, 20);
	assert_times(fixture, kept, 8, 8, 8, 8);
}

static void counts_from_zero_after_a_reset(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 9);
	size_t count;

	look(fixture);
	sample_stack(fixture, 10, a);
	sample_stack(fixture, 10, b);
	look(fixture);
	assert_int_equal(function_stats__reset(fixture->stats), 0);
	function_stats__rows(fixture->stats, &count);
	assert_int_equal(count, 0);
	assert_int_equal(function_stats__all(fixture->stats)->samples, 0);
	sample_stack(fixture, 4, b);
	look(fixture);
	assert_times(fixture, b, 4, 4, 4, 4);
	assert_null(row_of(fixture, a));
	assert_int_equal(function_stats__all(fixture->stats)->samples, 4);
	assert_int_equal(function_stats__all(fixture->stats)->elapsed_ns, S);
}

static void shares_the_charged_time_among_all_samples(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1);

	look(fixture);
	sample_stack(fixture, 60, a);
	stats_fixture__lose(fixture, "main", 20);
	fixture->cpu_ns = S / 10;
	look(fixture);
	assert_times(fixture, a, S / 10 * 3 / 4, S / 10 * 3 / 4, S / 10 * 3 / 4, S / 10 * 3 / 4);
	assert_int_equal(function_stats__recent(fixture->stats)->samples, 80);
	assert_int_equal(function_stats__recent(fixture->stats)->weight_ns, 80);
	assert_int_equal(function_stats__recent(fixture->stats)->script_ns, 60);
	/* The process has ended, so its charged time is no longer reported. */
	fixture->cpu_ns = 0;
	look(fixture);
	assert_int_equal(function_stats__recent(fixture->stats)->cpu_ns, 0);
	assert_int_equal(function_stats__all(fixture->stats)->cpu_ns, S / 10);
}

/* At a tenth of the frequency, a sample stands for ten times as much time. */
static void a_sample_weighs_as_much_as_its_period(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 9);

	look(fixture);
	fixture->period_ns = 1000000;
	sample_stack(fixture, 300, a);
	sample_stack(fixture, 100, a, b);
	fixture->period_ns = 10000000;
	sample_stack(fixture, 10, b);
	sample_stack(fixture, 20, a);
	fixture->cpu_ns = 2 * 700000000;
	look(fixture);
	assert_times(fixture, a, 1000000000, 1200000000, 1000000000, 1200000000);
	assert_times(fixture, b, 400000000, 400000000, 400000000, 400000000);
	sample_stack(fixture, 10, b);
	fixture->cpu_ns += 200000000;
	look(fixture);
	assert_times(fixture, a, 0, 0, 1000000000, 1200000000);
	assert_times(fixture, b, 200000000, 200000000, 600000000, 600000000);
}

static void what_was_lost_weighs_as_much_as_its_period(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1);

	look(fixture);
	fixture->period_ns = 10;
	sample_stack(fixture, 10, a);
	fixture->period_ns = 100;
	stats_fixture__lose(fixture, "main", 3);
	fixture->cpu_ns = 4000;
	look(fixture);
	assert_times(fixture, a, 1000, 1000, 1000, 1000);
	assert_int_equal(stats_fixture__process(fixture, NULL)->recent_ns, 4000);
	assert_int_equal(stats_fixture__process(fixture, NULL)->samples, 10);
	assert_int_equal(function_stats__recent(fixture->stats)->script_ns, 100);
	assert_int_equal(function_stats__recent(fixture->stats)->weight_ns, 400);
}

static void knows_the_collector(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1);
	uint32_t gc = functions__gc(fixture->functions);

	look(fixture);
	sample_stack(fixture, 6, a);
	sample_stack(fixture, 2, a, gc);
	look(fixture);
	assert_int_equal(function_stats__recent(fixture->stats)->gc_ns, 2);
	assert_int_equal(function_stats__recent(fixture->stats)->script_ns, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(is_empty_at_first),
		with_fixture(tells_the_last_look_from_all),
		with_fixture(counts_recursion_once),
		with_fixture(a_function_at_its_lines_is_one),
		with_fixture(callers_that_disagree_tell_functions_apart),
		with_fixture(another_name_is_no_other_function),
		with_fixture(what_was_pruned_is_not_recent),
		with_fixture(what_was_pruned_after_a_reset_was_before_it),
		with_fixture(counts_from_zero_after_a_reset),
		with_fixture(shares_the_charged_time_among_all_samples),
		with_fixture(a_sample_weighs_as_much_as_its_period),
		with_fixture(what_was_lost_weighs_as_much_as_its_period),
		with_fixture(knows_the_collector),
	};

	return cmocka_run_group_tests_name("function stats", tests, NULL, NULL);
}
