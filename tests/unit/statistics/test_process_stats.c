/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Statistics of many processes, each a category of one profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats_fixture.h"

#define with_fixture(test)                                                                         \
	cmocka_unit_test_setup_teardown(test, stats_fixture__set_up_many, stats_fixture__tear_down)

static const char *name_of(int process, char name[32])
{
	snprintf(name, 32, "lua (pid %d)", process);
	return name;
}

/* Of `function` alone, or called by `caller`. */
static void sample(struct stats_fixture *fixture, const char *category, uint64_t count,
		   uint32_t caller, uint32_t function)
{
	if (caller)
		stats_fixture__sample_stack(fixture, category, count, caller, function);
	else
		stats_fixture__sample_stack(fixture, category, count, function);
}

#define look_at(fixture, ...) stats_fixture__look_at(fixture, __VA_ARGS__)

static const struct stats_process *process(const struct stats_fixture *fixture, const char *name)
{
	return stats_fixture__process(fixture, name);
}

static const struct stats_row *row(const struct stats_fixture *fixture, const char *name,
				   uint32_t function)
{
	return stats_fixture__row(fixture, name, function);
}

static void assert_times(const struct stats_fixture *fixture, const char *name, uint32_t function,
			 uint64_t recent_self, uint64_t recent_total, uint64_t self, uint64_t total)
{
	stats_fixture__expect(fixture, name, function, recent_self, recent_total, self, total);
}

/* A look when these two are alive, and were charged that besides. */
static void see_late(struct stats_fixture *fixture, const char *first, uint64_t first_ns,
		     const char *second, uint64_t second_ns)
{
	fixture->late[0] = first_ns;
	fixture->late[1] = second_ns;
	look_at(fixture, first, second);
	memset(fixture->late, 0, sizeof(fixture->late));
}

static void keeps_processes_apart(void **state)
{
	struct stats_fixture *fixture = *state;

	sample(fixture, "a", 6, 0, fixture->work);
	sample(fixture, "b", 5, fixture->rest, fixture->work);
	look_at(fixture, "a", "b");
	sample(fixture, "b", 2, 0, fixture->rest);
	look_at(fixture, "a", "b");
	assert_times(fixture, "a", fixture->work, 0, 0, 6, 6);
	assert_times(fixture, "b", fixture->work, 0, 0, 5, 5);
	assert_times(fixture, "b", fixture->rest, 2, 2, 2, 7);
	assert_null(row(fixture, "a", fixture->rest));
	assert_int_equal(process(fixture, "b")->recent_ns, 2);
	assert_int_equal(process(fixture, "b")->samples, 7);
	assert_int_equal(process(fixture, "a")->recent_ns, 0);
	assert_int_equal(process(fixture, "a")->samples, 6);
	assert_int_equal(function_stats__all(fixture->stats)->samples, 13);
}

/* Each counts what is new in it, also when another was counted in between. */
static void counts_only_what_has_changed(void **state)
{
	struct stats_fixture *fixture = *state;

	sample(fixture, "a", 6, 0, fixture->work);
	sample(fixture, "b", 5, 0, fixture->work);
	look_at(fixture, "a", "b");
	for (uint64_t i = 1; i < 6; i++) {
		sample(fixture, i % 2 ? "a" : "b", i, 0, fixture->work);
		look_at(fixture, "a", "b");
		assert_times(fixture, "a", fixture->work, i % 2 ? i : 0, i % 2 ? i : 0,
			     6 + (i + 1) / 2 * ((i + 1) / 2), 6 + (i + 1) / 2 * ((i + 1) / 2));
	}
	assert_int_equal(process(fixture, "a")->recent_ns, 5);
	assert_int_equal(process(fixture, "b")->recent_ns, 0);
}

static void tells_the_share_of_script(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t unreadable = functions__pseudo(fixture->functions, PROFILE_UNREADABLE);

	look_at(fixture, "a");
	sample(fixture, "a", 30, fixture->rest, fixture->work);
	sample(fixture, "a", 9, 0, fixture->host);
	sample(fixture, "a", 1, 0, unreadable);
	look_at(fixture, "a");
	assert_int_equal(process(fixture, "a")->samples, 40);
	assert_int_equal(process(fixture, "a")->script_ns, 30);
	assert_int_equal(function_stats__reset(fixture->stats), 0);
	sample(fixture, "a", 4, 0, fixture->host);
	sample(fixture, "a", 1, 0, fixture->work);
	look_at(fixture, "a");
	assert_int_equal(process(fixture, "a")->samples, 5);
	assert_int_equal(process(fixture, "a")->script_ns, 1);
}

static void who_lives_is_there_without_samples(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t id;

	look_at(fixture, "idle", "idle", "busy");
	assert_int_equal(process(fixture, "idle")->living, 2);
	assert_int_equal(process(fixture, "idle")->samples, 0);
	assert_int_equal(function_stats__living(fixture->stats), 3);
	id = process(fixture, "idle")->id;
	sample(fixture, "busy", 6, 0, fixture->work);
	look_at(fixture, "busy", "idle");
	assert_int_equal(process(fixture, "idle")->id, id);
	/* Nothing is left of it that could be shown. */
	look_at(fixture, "busy");
	assert_null(process(fixture, "idle"));
	assert_int_equal(function_stats__ended(fixture->stats), 0);
}

static void who_has_ended_keeps_what_it_had(void **state)
{
	struct stats_fixture *fixture = *state;

	sample(fixture, "a", 6, 0, fixture->work);
	look_at(fixture, "a");
	assert_false(process(fixture, "a")->has_ended);
	sample(fixture, "a", 2, 0, fixture->work);
	look_at(fixture, "b");
	assert_true(process(fixture, "a")->has_ended);
	assert_times(fixture, "a", fixture->work, 2, 2, 8, 8);
	look_at(fixture, "b");
	assert_times(fixture, "a", fixture->work, 0, 0, 8, 8);
	assert_int_equal(function_stats__ended(fixture->stats), 1);
	assert_int_equal(function_stats__living(fixture->stats), 1);
	/* One of its name, or of those that are shown as one. */
	look_at(fixture, "a");
	assert_false(process(fixture, "a")->has_ended);
	assert_int_equal(function_stats__ended(fixture->stats), 0);
}

static void what_is_nobodys_does_not_end(void **state)
{
	struct stats_fixture *fixture = *state;

	sample(fixture, CALL_TREE_OTHER, 6, 0, fixture->work);
	sample(fixture, PROFILE_WITHOUT_INTERPRETER, 6, 0, fixture->host);
	look_at(fixture, "a");
	look_at(fixture, "a");
	assert_false(process(fixture, CALL_TREE_OTHER)->has_ended);
	assert_false(process(fixture, PROFILE_WITHOUT_INTERPRETER)->has_ended);
	assert_int_equal(function_stats__ended(fixture->stats), 0);
}

static void those_that_ended_long_ago_are_one(void **state)
{
	struct stats_fixture *fixture = *state;
	const int count = STATS_ENDED_KEPT + 50;
	size_t processes;
	char name[32];

	for (int i = 0; i < count; i++) {
		sample(fixture, name_of(i, name), 2, fixture->rest, fixture->work);
		look_at(fixture, "survivor");
		if (i < STATS_ENDED_KEPT)
			assert_null(process(fixture, STATS_ENDED_EARLIER));
	}
	function_stats__processes(fixture->stats, &processes);
	assert_int_equal(processes, STATS_ENDED_KEPT + 2);
	assert_int_equal(function_stats__ended(fixture->stats), count);
	assert_null(process(fixture, name_of(49, name)));
	assert_non_null(process(fixture, name_of(50, name)));
	assert_true(process(fixture, STATS_ENDED_EARLIER)->has_ended);
	assert_int_equal(process(fixture, STATS_ENDED_EARLIER)->samples, 100);
	assert_times(fixture, STATS_ENDED_EARLIER, fixture->work, 0, 0, 100, 100);
	assert_times(fixture, STATS_ENDED_EARLIER, fixture->rest, 0, 0, 0, 100);
	/* Who comes to be of such a category again is of it. */
	sample(fixture, name_of(7, name), 3, 0, fixture->work);
	look_at(fixture, name_of(7, name));
	assert_times(fixture, STATS_ENDED_EARLIER, fixture->work, 3, 3, 103, 103);
	assert_false(process(fixture, STATS_ENDED_EARLIER)->has_ended);
	assert_null(process(fixture, name));
}

/* Ten thousand in one second: what they did in it is there, whoever is kept apart. */
static void what_is_folded_at_once_is_recent(void **state)
{
	struct stats_fixture *fixture = *state;
	size_t count;
	const struct stats_row *rows;
	uint64_t self = 0;
	char name[32];

	look_at(fixture, "survivor");
	for (int i = 0; i < CALL_TREE_CATEGORIES_MAX; i++)
		sample(fixture, name_of(i, name), 1, 0, fixture->work);
	look_at(fixture, "survivor");
	rows = function_stats__rows(fixture->stats, &count);
	assert_int_equal(count, STATS_ENDED_KEPT + 1);
	for (size_t i = 0; i < count; i++)
		self += rows[i].recent.self;
	assert_int_equal(self, CALL_TREE_CATEGORIES_MAX);
	look_at(fixture, "survivor");
	assert_times(fixture, STATS_ENDED_EARLIER, fixture->work, 0, 0,
		     CALL_TREE_CATEGORIES_MAX - STATS_ENDED_KEPT,
		     CALL_TREE_CATEGORIES_MAX - STATS_ENDED_KEPT);
}

/* As recording's prune() does it: what `gone` had is "(other)"'s, its id the next function's. */
static void what_was_pruned_is_not_recent_anywhere(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER), next;

	look_at(fixture, "a", "b");
	sample(fixture, "a", 50, 0, fixture->rest);
	sample(fixture, "b", 70, 0, fixture->rest);
	sample(fixture, "b", 5, 0, fixture->work);
	look_at(fixture, "a", "b");
	stats_fixture__evict(fixture, fixture->rest, 120);
	sample(fixture, "a", 50, 0, other);
	sample(fixture, "b", 70, 0, other);
	sample(fixture, "b", 5, 0, fixture->work);
	next = stats_fixture__script(fixture, "next.lua", 1);
	assert_int_equal(next, fixture->rest);
	sample(fixture, "b", 3, 0, next);
	look_at(fixture, "a", "b");
	/* Also where no new sample came. */
	assert_null(row(fixture, "a", next));
	assert_times(fixture, "a", other, 0, 0, 50, 50);
	assert_times(fixture, "b", other, 0, 0, 70, 70);
	assert_times(fixture, "b", next, 3, 3, 3, 3);
	assert_string_equal(row(fixture, "b", next)->source, "next.lua");
}

/* What one took says nothing of what the samples of another weigh. */
static void each_process_shares_its_own_time(void **state)
{
	struct stats_fixture *fixture = *state;
	const char *none[] = {NULL};

	stats_fixture__look(fixture, none);
	sample(fixture, "a", 100, 0, fixture->work);
	fixture->period_ns = 100;
	sample(fixture, "b", 3, fixture->rest, fixture->work);
	stats_fixture__lose(fixture, "b", 1);
	see_late(fixture, "a", 400, "b", 500);
	assert_int_equal(process(fixture, "a")->recent_ns, 500);
	assert_int_equal(process(fixture, "b")->recent_ns, 800);
	assert_times(fixture, "a", fixture->work, 500, 500, 500, 500);
	assert_times(fixture, "b", fixture->work, 600, 600, 600, 600);
	assert_times(fixture, "b", fixture->rest, 0, 600, 0, 600);
	/* Charged by now, and more samples are late; the other was idle. */
	call_tree__charge(fixture->tree, call_tree__category(fixture->tree, "b"), 500);
	sample(fixture, "b", 1, 0, fixture->rest);
	see_late(fixture, "a", 400, "b", 150);
	assert_int_equal(process(fixture, "a")->recent_ns, 0);
	assert_int_equal(process(fixture, "a")->all_ns, 500);
	assert_int_equal(process(fixture, "b")->recent_ns, 250);
	assert_times(fixture, "b", fixture->rest, 250, 250, 210, 840);
}

/* It is charged what was late a moment after it has gone. */
static void no_time_is_taken_back(void **state)
{
	struct stats_fixture *fixture = *state;

	sample(fixture, "a", 100, 0, fixture->work);
	see_late(fixture, "a", 50, "b", 0);
	look_at(fixture, "b");
	assert_int_equal(process(fixture, "a")->recent_ns, 0);
	assert_int_equal(process(fixture, "a")->all_ns, 150);
	call_tree__charge(fixture->tree, call_tree__category(fixture->tree, "a"), 55);
	look_at(fixture, "b");
	assert_int_equal(process(fixture, "a")->recent_ns, 5);
	assert_int_equal(process(fixture, "a")->all_ns, 155);
	assert_int_equal(function_stats__reset(fixture->stats), 0);
	assert_int_equal(process(fixture, "a")->all_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(keeps_processes_apart),
		with_fixture(counts_only_what_has_changed),
		with_fixture(tells_the_share_of_script),
		with_fixture(who_lives_is_there_without_samples),
		with_fixture(who_has_ended_keeps_what_it_had),
		with_fixture(what_is_nobodys_does_not_end),
		with_fixture(those_that_ended_long_ago_are_one),
		with_fixture(what_is_folded_at_once_is_recent),
		with_fixture(what_was_pruned_is_not_recent_anywhere),
		with_fixture(each_process_shares_its_own_time),
		with_fixture(no_time_is_taken_back),
	};

	return cmocka_run_group_tests_name("process stats", tests, NULL, NULL);
}
