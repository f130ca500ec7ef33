/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats_fixture.h"
#include "statistics/function_calls.h"

#define FIRST  "lua5.4 (pid 1)"
#define SECOND "lua5.4 (pid 2)"

#define of_one(test)                                                                               \
	cmocka_unit_test_setup_teardown(test, stats_fixture__set_up_one, stats_fixture__tear_down)
#define of_many(test)                                                                              \
	cmocka_unit_test_setup_teardown(test, stats_fixture__set_up_many, stats_fixture__tear_down)

static uint32_t script(struct stats_fixture *fixture, const char *source, uint32_t line)
{
	return stats_fixture__script(fixture, source, line);
}

#define sample_in(fixture, category, count, ...)                                                   \
	stats_fixture__sample_stack(fixture, category, count, __VA_ARGS__)
#define sample_stack(fixture, count, ...) sample_in(fixture, "main", count, __VA_ARGS__)

static void see(struct stats_fixture *fixture)
{
	struct ls_profile profile;

	stats_fixture__export(fixture, &profile);
	assert_int_equal(function_calls__see(fixture->stats, &profile, fixture->time_ns), 0);
}

/* An update, and the calls as of then. */
static void look(struct stats_fixture *fixture)
{
	stats_fixture__look_at(fixture, FIRST, SECOND);
	see(fixture);
}

static void reset(struct stats_fixture *fixture)
{
	struct ls_profile profile;

	stats_fixture__export(fixture, &profile);
	assert_int_equal(function_stats__reset(fixture->stats), 0);
	assert_int_equal(function_calls__reset(fixture->stats, &profile), 0);
}

static void choose_of(struct stats_fixture *fixture, uint32_t function, bool is_plugin,
		      const char *process)
{
	const struct calls_choice choice = {
		.function = function,
		.is_plugin = is_plugin,
		.process = process ? stats_fixture__process(fixture, process)->id : 0};

	assert_int_equal(function_calls__count(fixture->stats, &choice), 0);
}

static void choose(struct stats_fixture *fixture, uint32_t function)
{
	choose_of(fixture, function, false, NULL);
}

static size_t count_rows(const struct stats_fixture *fixture)
{
	size_t count;

	function_calls__rows(fixture->stats, &count);
	return count;
}

static const struct stats_row *find(const struct stats_fixture *fixture, enum stats_role role,
				    uint32_t function)
{
	size_t count;
	const struct stats_row *rows = function_calls__rows(fixture->stats, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].role == role && rows[i].function == function)
			return &rows[i];
	return NULL;
}

static void expect(const struct stats_fixture *fixture, enum stats_role role, uint32_t function,
		   uint64_t recent, uint64_t all)
{
	const struct stats_row *row = find(fixture, role, function);

	assert_non_null(row);
	assert_int_equal(row->recent.total, recent);
	assert_int_equal(row->all.total, all);
}

static void tells_callers_from_callees(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 2);
	uint32_t c = script(fixture, "a.lua", 3), d = script(fixture, "a.lua", 4);

	sample_stack(fixture, 10, a, b);
	sample_stack(fixture, 5, c, b);
	sample_stack(fixture, 4, a, b, d);
	sample_stack(fixture, 100, a, c);
	sample_stack(fixture, 2, b, d, a);
	look(fixture);
	choose(fixture, b);
	assert_int_equal(count_rows(fixture), 6);
	expect(fixture, STATS_CHOSEN, b, 0, 21);
	expect(fixture, STATS_ITSELF, b, 0, 15);
	expect(fixture, STATS_CALLER, a, 0, 14);
	expect(fixture, STATS_CALLER, c, 0, 5);
	expect(fixture, STATS_CALLER, 0, 0, 2);
	expect(fixture, STATS_CALLEE, d, 0, 6);
	assert_string_equal(find(fixture, STATS_CALLER, 0)->name, "(no caller)");
	assert_string_equal(find(fixture, STATS_CALLEE, d)->source, "a.lua");
	assert_int_equal(find(fixture, STATS_CALLEE, d)->line, 4);
	assert_ptr_equal(function_calls__chosen(fixture->stats), find(fixture, STATS_CHOSEN, b));
}

static void counts_recursion_once(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t main_chunk = script(fixture, "a.lua", 0), f = script(fixture, "a.lua", 1);
	uint32_t leaf = script(fixture, "a.lua", 9);

	sample_stack(fixture, 7, main_chunk, f, f, f, leaf);
	sample_stack(fixture, 3, main_chunk, f, leaf, f, leaf, f);
	look(fixture);
	choose(fixture, f);
	expect(fixture, STATS_CHOSEN, f, 0, 10);
	expect(fixture, STATS_ITSELF, f, 0, 3);
	expect(fixture, STATS_CALLER, main_chunk, 0, 10);
	expect(fixture, STATS_CALLER, leaf, 0, 3);
	expect(fixture, STATS_CALLEE, leaf, 0, 10);
	assert_null(find(fixture, STATS_CALLER, f));
	assert_null(find(fixture, STATS_CALLEE, f));
}

static void tells_what_is_recent(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 2);

	sample_stack(fixture, 10, a, b);
	look(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CALLER, a, 0, 10);
	assert_int_equal(function_calls__recent_ns(fixture->stats), 0);
	sample_stack(fixture, 3, a, b);
	look(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CALLER, a, 3, 13);
	expect(fixture, STATS_CHOSEN, b, 3, 13);
	assert_int_equal(function_calls__recent_ns(fixture->stats), S);
	/* For another function, it is known at once. */
	choose(fixture, a);
	expect(fixture, STATS_CALLEE, b, 3, 13);
	look(fixture);
	choose(fixture, a);
	expect(fixture, STATS_CALLEE, b, 0, 13);
	function_calls__forget(fixture->stats);
	assert_false(function_calls__have_tree(fixture->stats));
	look(fixture);
	assert_int_equal(function_calls__recent_ns(fixture->stats), 0);
}

static void counts_from_the_reset(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 2);

	sample_stack(fixture, 10, a, b);
	look(fixture);
	reset(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CHOSEN, b, 0, 0);
	assert_int_equal(count_rows(fixture), 1);
	sample_stack(fixture, 4, a, b, b);
	sample_stack(fixture, 2, b);
	look(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CHOSEN, b, 6, 6);
	expect(fixture, STATS_CALLER, a, 4, 4);
	expect(fixture, STATS_CALLER, 0, 2, 2);
}

static void merges_processes_or_shows_one(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 2);

	sample_in(fixture, FIRST, 10, a, b);
	sample_in(fixture, SECOND, 5, a, b);
	sample_in(fixture, SECOND, 1, b);
	look(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CHOSEN, b, 0, 16);
	expect(fixture, STATS_CALLER, a, 0, 15);
	choose_of(fixture, b, false, SECOND);
	expect(fixture, STATS_CHOSEN, b, 0, 6);
	expect(fixture, STATS_CALLER, a, 0, 5);
	choose_of(fixture, b, false, FIRST);
	assert_null(find(fixture, STATS_CALLER, 0));
	expect(fixture, STATS_CALLER, a, 0, 10);
}

/* Of 30 ns, ten samples of which one was lost have 3 each. */
static void shares_out_charged_time(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 2);

	sample_stack(fixture, 9, a, b);
	stats_fixture__lose(fixture, "main", 1);
	fixture->cpu_ns = 30;
	look(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CALLER, a, 0, 27);
}

static void hides_the_garbage_collector(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b = script(fixture, "a.lua", 2);
	uint32_t gc = functions__gc(fixture->functions);

	sample_stack(fixture, 10, a, b);
	sample_stack(fixture, 3, a, b, gc);
	look(fixture);
	choose(fixture, b);
	expect(fixture, STATS_CALLER, a, 0, 13);
	expect(fixture, STATS_CALLEE, gc, 0, 3);
	assert_int_equal(function_stats__hide(fixture->stats, STATS_HIDDEN_GC), 0);
	expect(fixture, STATS_CALLER, a, 0, 10);
	expect(fixture, STATS_CHOSEN, b, 0, 10);
	assert_null(find(fixture, STATS_CALLEE, gc));
	choose(fixture, gc);
	assert_int_equal(count_rows(fixture), 0);
	assert_null(function_calls__chosen(fixture->stats));
	assert_int_equal(function_stats__hide(fixture->stats, 0), 0);
	expect(fixture, STATS_CALLER, b, 0, 3);
}

static void plugins_run_functions_of_their_own(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t app = script(fixture, "app.lua", 1), plugin = script(fixture, "plugins/x.lua", 1);
	uint32_t lib = script(fixture, "lib.lua", 1);
	struct patterns plugins = {0};

	patterns__add(&plugins, "plugins/*");
	function_stats__set_plugins(fixture->stats, &plugins);
	sample_stack(fixture, 10, app, lib);
	sample_stack(fixture, 4, app, plugin, lib);
	look(fixture);
	choose(fixture, lib);
	expect(fixture, STATS_CHOSEN, lib, 0, 10);
	expect(fixture, STATS_CALLER, app, 0, 10);
	choose_of(fixture, lib, true, NULL);
	expect(fixture, STATS_CHOSEN, lib, 0, 4);
	expect(fixture, STATS_CALLER, plugin, 0, 4);
	assert_true(find(fixture, STATS_CALLER, plugin)->is_plugin);
	choose(fixture, app);
	expect(fixture, STATS_CALLEE, lib, 0, 10);
	expect(fixture, STATS_CALLEE, plugin, 0, 4);
	assert_int_equal(function_stats__hide(fixture->stats, STATS_HIDDEN_PLUGINS), 0);
	assert_null(find(fixture, STATS_CALLEE, plugin));
	expect(fixture, STATS_CHOSEN, app, 0, 14);
	choose_of(fixture, lib, true, NULL);
	assert_int_equal(count_rows(fixture), 0);
}

/* What came before the reset and was pruned since is in "(other)", which is not to have more. */
static void what_was_pruned_counts_nowhere_else(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER);
	uint32_t a = script(fixture, "a.lua", 1), gone = script(fixture, "gone.lua", 1), next;

	sample_stack(fixture, 50, a, gone);
	look(fixture);
	reset(fixture);
	stats_fixture__evict(fixture, gone, 50);
	sample_stack(fixture, 50, a, other);
	sample_stack(fixture, 2, a, other);
	next = script(fixture, "next.lua", 5);
	assert_int_equal(next, gone);
	sample_stack(fixture, 3, a, next);
	look(fixture);
	assert_true(function_calls__is_reused(fixture->stats, gone));
	assert_false(function_calls__is_reused(fixture->stats, a));
	choose(fixture, a);
	expect(fixture, STATS_CALLEE, other, 2, 2);
	expect(fixture, STATS_CALLEE, next, 3, 3);
	assert_string_equal(find(fixture, STATS_CALLEE, next)->source, "next.lua");
}

/* The function that was called is still known, but its calls from there are not. */
static void calls_that_were_pruned_count_nowhere_else(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t other = functions__pseudo(fixture->functions, CALL_TREE_OTHER);
	uint32_t a = script(fixture, "a.lua", 1), rare = script(fixture, "rare.lua", 1);
	uint32_t gone = script(fixture, "gone.lua", 1);

	sample_stack(fixture, 50, a, rare);
	look(fixture);
	reset(fixture);
	stats_fixture__evict(fixture, gone, 50);
	sample_stack(fixture, 50, a, other);
	sample_stack(fixture, 2, a, other);
	sample_stack(fixture, 1, a, a, rare);
	look(fixture);
	choose(fixture, a);
	expect(fixture, STATS_CALLEE, other, 3, 3);
	assert_null(find(fixture, STATS_CALLEE, rare));
}

static void new_functions_come_with_the_next_update(void **state)
{
	struct stats_fixture *fixture = *state;
	uint32_t a = script(fixture, "a.lua", 1), b;

	sample_stack(fixture, 5, a);
	look(fixture);
	b = script(fixture, "b.lua", 1);
	sample_stack(fixture, 2, a, b);
	see(fixture);
	choose(fixture, a);
	expect(fixture, STATS_CHOSEN, a, 2, 7);
	assert_null(find(fixture, STATS_CALLEE, b));
	choose(fixture, b);
	assert_int_equal(count_rows(fixture), 0);
	look(fixture);
	choose(fixture, a);
	expect(fixture, STATS_CALLEE, b, 2, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		of_one(tells_callers_from_callees),
		of_one(counts_recursion_once),
		of_one(tells_what_is_recent),
		of_one(counts_from_the_reset),
		of_many(merges_processes_or_shows_one),
		of_one(shares_out_charged_time),
		of_one(hides_the_garbage_collector),
		of_one(plugins_run_functions_of_their_own),
		of_one(what_was_pruned_counts_nowhere_else),
		of_one(calls_that_were_pruned_count_nowhere_else),
		of_one(new_functions_come_with_the_next_update),
	};

	return cmocka_run_group_tests_name("function calls", tests, NULL, NULL);
}
