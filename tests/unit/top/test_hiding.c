/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the statistics leave out: the garbage collector, plugins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats_fixture.h"

#define NAME "lua5.4 (pid 1)"

struct fixture {
	struct stats_fixture *stats;
	struct patterns plugins;
	uint32_t app, plugin, lib, gc;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	void *stats = NULL;

	*state = fixture;
	if (!fixture || stats_fixture__set_up_many(&stats))
		return -1;
	fixture->stats = stats;
	patterns__add(&fixture->plugins, "plugins/*");
	function_stats__set_plugins(fixture->stats->stats, &fixture->plugins);
	fixture->app = stats_fixture__script(stats, "app.lua", 1);
	fixture->plugin = stats_fixture__script(stats, "plugins/x.lua", 1);
	fixture->lib = stats_fixture__script(stats, "lib.lua", 1);
	fixture->gc = functions__gc(fixture->stats->functions);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	void *stats = fixture->stats;

	stats_fixture__tear_down(&stats);
	free(fixture);
	return 0;
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#define sample_stack(fixture, count, ...)                                                          \
	stats_fixture__sample_stack((fixture)->stats, NAME, count, __VA_ARGS__)

static void look(struct fixture *fixture)
{
	stats_fixture__look_at(fixture->stats, NAME);
}

/* Of each kind, seen now, but for 1,000 samples before. */
static void sample_all(struct fixture *fixture)
{
	sample_stack(fixture, 1000, fixture->app);
	look(fixture);
	sample_stack(fixture, 100, fixture->app);
	sample_stack(fixture, 7, fixture->app, fixture->gc);
	sample_stack(fixture, 20, fixture->app, fixture->plugin);
	sample_stack(fixture, 5, fixture->app, fixture->plugin, fixture->gc);
	sample_stack(fixture, 30, fixture->app, fixture->plugin, fixture->lib);
	sample_stack(fixture, 40, fixture->app, fixture->lib);
	sample_stack(fixture, 60, fixture->plugin);
	sample_stack(fixture, 3, fixture->plugin, fixture->gc);
	look(fixture);
}

static void hide(struct fixture *fixture, unsigned kinds)
{
	assert_int_equal(function_stats__hide(fixture->stats->stats, kinds), 0);
	assert_int_equal(function_stats__hidden(fixture->stats->stats), kinds);
}

static const struct stats_row *find(const struct fixture *fixture, uint32_t function,
				    bool is_plugin)
{
	size_t count;
	const struct stats_row *rows = function_stats__rows(fixture->stats->stats, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].function == function && rows[i].is_plugin == is_plugin)
			return &rows[i];
	return NULL;
}

static void expect(const struct fixture *fixture, uint32_t function, bool is_plugin,
		   uint64_t recent_total, uint64_t all_total)
{
	const struct stats_row *row = find(fixture, function, is_plugin);

	assert_non_null(row);
	assert_int_equal(row->recent.total, recent_total);
	assert_int_equal(row->all.total, all_total);
}

static void expect_process(const struct fixture *fixture, uint64_t recent_ns, uint64_t all_ns)
{
	const struct stats_process *process = stats_fixture__process(fixture->stats, NAME);

	assert_int_equal(process->recent_ns, recent_ns);
	assert_int_equal(process->all_ns, all_ns);
	assert_int_equal(process->samples, all_ns);
	assert_int_equal(process->weight_ns, all_ns);
	assert_int_equal(process->script_ns, all_ns);
}

static void expect_all(const struct fixture *fixture)
{
	expect(fixture, fixture->app, false, 202, 1202);
	expect(fixture, fixture->plugin, true, 118, 118);
	expect(fixture, fixture->lib, false, 40, 40);
	expect(fixture, fixture->lib, true, 30, 30);
	expect(fixture, fixture->gc, false, 7, 7);
	expect(fixture, fixture->gc, true, 8, 8);
	assert_null(find(fixture, fixture->app, true));
	assert_null(find(fixture, fixture->plugin, false));
	expect_process(fixture, 265, 1265);
}

static void plugins_are_apart_from_others(void **state)
{
	sample_all(*state);
	expect_all(*state);
}

static void the_collector_is_in_no_total(void **state)
{
	struct fixture *fixture = *state;

	sample_all(fixture);
	hide(fixture, STATS_HIDDEN_GC);
	assert_null(find(fixture, fixture->gc, false));
	assert_null(find(fixture, fixture->gc, true));
	expect(fixture, fixture->app, false, 190, 1190);
	expect(fixture, fixture->plugin, true, 110, 110);
	assert_int_equal(find(fixture, fixture->app, false)->all.self, 1100);
	expect_process(fixture, 250, 1250);
	hide(fixture, 0);
	expect_all(fixture);
}

/* As in Roblox's: only those at the first level are subtracted, from the process. */
static void callers_keep_the_time_of_plugins(void **state)
{
	struct fixture *fixture = *state;

	sample_all(fixture);
	hide(fixture, STATS_HIDDEN_PLUGINS);
	assert_null(find(fixture, fixture->plugin, true));
	assert_null(find(fixture, fixture->lib, true));
	assert_null(find(fixture, fixture->gc, true));
	expect(fixture, fixture->app, false, 202, 1202);
	expect(fixture, fixture->lib, false, 40, 40);
	expect(fixture, fixture->gc, false, 7, 7);
	expect_process(fixture, 202, 1202);
}

static void nothing_is_subtracted_twice(void **state)
{
	struct fixture *fixture = *state;

	sample_all(fixture);
	hide(fixture, STATS_HIDDEN_ALL);
	expect(fixture, fixture->app, false, 190, 1190);
	expect_process(fixture, 190, 1190);
}

static void hides_what_comes_after_a_reset(void **state)
{
	struct fixture *fixture = *state;

	sample_all(fixture);
	hide(fixture, STATS_HIDDEN_GC);
	assert_int_equal(function_stats__reset(fixture->stats->stats), 0);
	expect_process(fixture, 0, 0);
	sample_stack(fixture, 6, fixture->app);
	sample_stack(fixture, 2, fixture->app, fixture->gc);
	look(fixture);
	expect(fixture, fixture->app, false, 6, 6);
	expect_process(fixture, 6, 6);
	hide(fixture, 0);
	expect(fixture, fixture->app, false, 8, 8);
	expect_process(fixture, 8, 8);
}

/* Lost samples stand for time, too: 80 ns are charged for 30 samples and 10 lost ones. */
static void subtracts_charged_time(void **state)
{
	struct fixture *fixture = *state;
	const struct stats_process *process;

	look(fixture);
	sample_stack(fixture, 20, fixture->app);
	sample_stack(fixture, 10, fixture->app, fixture->gc);
	stats_fixture__lose(fixture->stats, NAME, 10);
	fixture->stats->late[0] = 50;
	look(fixture);
	hide(fixture, STATS_HIDDEN_GC);
	process = stats_fixture__process(fixture->stats, NAME);
	assert_int_equal(process->all_ns, 60);
	expect(fixture, fixture->app, false, 40, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(plugins_are_apart_from_others),
		with_fixture(the_collector_is_in_no_total),
		with_fixture(callers_keep_the_time_of_plugins),
		with_fixture(nothing_is_subtracted_twice),
		with_fixture(hides_what_comes_after_a_reset),
		with_fixture(subtracts_charged_time),
	};

	return cmocka_run_group_tests_name("hiding", tests, NULL, NULL);
}
