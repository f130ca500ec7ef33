/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What virtual machines did that compile, as statistics and as a line of the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/terminal.h"
#include "stats_fixture.h"
#include "view_fixture.h"

#define ONE "lua (pid 1)"
#define TWO "lua (pid 2)"

/* The screen shows the statistics of two processes, of which the first compiles. */
struct fixture {
	struct stats_fixture *processes;
	struct view_fixture *screen;
	uint32_t native, compiler, exit, gc, sort;
};

static int set_up(void **state)
{
	const struct top_view top_view = {.target = "the system", .gc_is_known = true};
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct functions *functions;

	*state = fixture;
	if (!fixture || stats_fixture__set_up_many((void **)&fixture->processes) ||
	    view_fixture__set_up((void **)&fixture->screen, &top_view))
		return -1;
	fixture->screen->stats = fixture->processes->stats;
	fixture->screen->top_view.stats = fixture->processes->stats;
	functions = fixture->processes->functions;
	fixture->native = functions__native(functions, fixture->processes->work);
	fixture->compiler = functions__activity(functions, LS_ACTIVITY_COMPILER);
	fixture->exit = functions__activity(functions, LS_ACTIVITY_TRACE_EXIT);
	fixture->gc = functions__gc(functions);
	fixture->sort = stats_fixture__script(fixture->processes, "sort.lua", 1);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->screen->stats = NULL;
	view_fixture__tear_down((void **)&fixture->screen);
	stats_fixture__tear_down((void **)&fixture->processes);
	free(fixture);
	return 0;
}

#define sample(fixture, category, count, ...)                                                      \
	stats_fixture__sample_stack((fixture)->processes, category, count, __VA_ARGS__)

static void look(struct fixture *fixture)
{
	stats_fixture__look_at(fixture->processes, ONE, TWO);
}

/* A second in which the first process has run machine code, and the second only interpreted. */
static void run_both(struct fixture *fixture)
{
	uint32_t work = fixture->processes->work;

	look(fixture);
	sample(fixture, ONE, 31, work);
	sample(fixture, ONE, 902, work, fixture->native);
	sample(fixture, ONE, 40, work, fixture->gc);
	sample(fixture, ONE, 16, work, fixture->compiler);
	sample(fixture, ONE, 11, work, fixture->exit);
	sample(fixture, TWO, 1000, fixture->sort);
	look(fixture);
}

/* The only line that begins so; NULL: there is none. */
static const char *line_of(struct fixture *fixture, const char *start)
{
	const char *line = NULL;

	view_fixture__draw(fixture->screen);
	for (unsigned i = 0; i < fixture->screen->count; i++)
		if (!strncmp(fixture->screen->lines[i], start, strlen(start))) {
			assert_null(line);
			line = fixture->screen->lines[i];
		}
	return line;
}

static void counts_what_processes_did(void **state)
{
	struct fixture *fixture = *state;
	const struct stats_process *one, *two;
	const struct stats_sums *sums = function_stats__recent(fixture->processes->stats);

	run_both(fixture);
	stats_fixture__lose(fixture->processes, ONE, 100);
	sample(fixture, ONE, 7, fixture->native);
	look(fixture);
	one = stats_fixture__process(fixture->processes, ONE);
	two = stats_fixture__process(fixture->processes, TWO);
	assert_int_equal(one->recent_split.time[SCRIPT_COMPILED], 7);
	assert_int_equal(one->recent_weight_ns, 107);
	assert_int_equal(one->all_split.time[SCRIPT_COMPILED], 909);
	assert_int_equal(one->all_split.time[SCRIPT_INTERPRETED], 31);
	assert_int_equal(one->all_split.time[SCRIPT_GC], 40);
	assert_int_equal(one->all_split.time[SCRIPT_TRACE_EXIT], 11);
	assert_int_equal(two->all_split.time[SCRIPT_INTERPRETED], 1000);
	assert_int_equal(sums->split.time[SCRIPT_COMPILED], 7);
	sums = function_stats__all(fixture->processes->stats);
	assert_int_equal(sums->split.time[SCRIPT_INTERPRETED], 1031);
	assert_int_equal(function_stats__reset(fixture->processes->stats), 0);
	assert_int_equal(sums->split.time[SCRIPT_INTERPRETED], 0);
	one = stats_fixture__process(fixture->processes, ONE);
	assert_false(script_split__has_compiled(&one->all_split));
}

static void those_that_ended_earlier_count(void **state)
{
	struct fixture *fixture = *state;
	const struct stats_process *earlier;

	run_both(fixture);
	for (int i = 0; i <= STATS_ENDED_KEPT; i++) {
		char name[32];

		snprintf(name, sizeof(name), "lua (pid %d)", 10 + i);
		sample(fixture, name, 1, fixture->sort);
		stats_fixture__look_at(fixture->processes, TWO, name);
	}
	stats_fixture__look_at(fixture->processes, TWO);
	assert_null(stats_fixture__process(fixture->processes, ONE));
	earlier = stats_fixture__process(fixture->processes, STATS_ENDED_EARLIER);
	assert_int_equal(earlier->all_split.time[SCRIPT_COMPILED], 902);
	assert_int_equal(
		function_stats__all(fixture->processes->stats)->split.time[SCRIPT_COMPILED], 902);
}

static void has_no_line_where_nothing_is_compiled(void **state)
{
	struct fixture *fixture = *state;
	uint32_t rows;

	look(fixture);
	sample(fixture, ONE, 10, fixture->processes->work);
	sample(fixture, ONE, 2, fixture->processes->work, fixture->gc);
	look(fixture);
	assert_null(line_of(fixture, "code  "));
	rows = top_view__rows(&fixture->screen->top_view);
	sample(fixture, ONE, 1, fixture->compiler);
	look(fixture);
	assert_non_null(line_of(fixture, "code  "));
	assert_int_equal(top_view__rows(&fixture->screen->top_view), rows - 1);
	assert_int_equal(fixture->screen->count, 24);
}

static void shows_shares_of_the_last_second(void **state)
{
	struct fixture *fixture = *state;

	run_both(fixture);
	fixture->screen->top_view.width = 120;
	assert_string_equal(line_of(fixture, "code  "),
			    "code  interpreted 51.6%, compiled 45.1%, C 0.0%, JIT compiler 0.8%, "
			    "trace exit 0.6%");
	assert_non_null(line_of(fixture, "now   "));
	sample(fixture, ONE, 3, fixture->native);
	sample(fixture, TWO, 1, fixture->sort);
	look(fixture);
	assert_string_equal(line_of(fixture, "code  "),
			    "code  interpreted 25.0%, compiled 75.0%, C 0.0%");
}

static void keeps_the_line_when_a_second_has_no_machine_code(void **state)
{
	struct fixture *fixture = *state;

	run_both(fixture);
	sample(fixture, TWO, 8, fixture->sort);
	look(fixture);
	assert_string_equal(line_of(fixture, "code  "),
			    "code  interpreted 100.0%, compiled 0.0%, C 0.0%");
	look(fixture);
	assert_string_equal(line_of(fixture, "code  "), "code  interpreted -, compiled -, C -");
	assert_int_equal(function_stats__reset(fixture->processes->stats), 0);
	assert_null(line_of(fixture, "code  "));
}

static void is_of_the_process_that_is_shown(void **state)
{
	struct fixture *fixture = *state;

	run_both(fixture);
	fixture->screen->top_view.width = 120;
	listing__press(&fixture->screen->listing, LISTING_OTHER);
	view_fixture__draw(fixture->screen);
	listing__press(&fixture->screen->listing, 'v');
	view_fixture__draw(fixture->screen);
	listing__press(&fixture->screen->listing, '5');
	view_fixture__draw(fixture->screen);
	listing__press(&fixture->screen->listing, LISTING_HOME);
	view_fixture__draw(fixture->screen);
	listing__press(&fixture->screen->listing, LISTING_ENTER);
	assert_string_equal(line_of(fixture, "code  "),
			    "code  interpreted 3.1%, compiled 90.2%, C 0.0%, JIT compiler 1.6%, "
			    "trace exit 1.1%");
	assert_non_null(line_of(fixture, "luaspy top: " ONE));
	listing__press(&fixture->screen->listing, LISTING_ESCAPE);
	view_fixture__draw(fixture->screen);
	listing__press(&fixture->screen->listing, LISTING_DOWN);
	view_fixture__draw(fixture->screen);
	listing__press(&fixture->screen->listing, LISTING_ENTER);
	assert_null(line_of(fixture, "code  "));
	assert_non_null(line_of(fixture, "luaspy top: " TWO));
}

static void fits_narrow_and_low_screens(void **state)
{
	struct fixture *fixture = *state;
	struct top_view *top_view = &fixture->screen->top_view;

	run_both(fixture);
	assert_string_equal(line_of(fixture, "interpreted "),
			    "interpreted 51.6% compiled 45.1% C 0.0% compiler 0.8% exit 0.6%");
	top_view->width = 40;
	assert_string_equal(line_of(fixture, "interpreted "),
			    "interpreted 51.6% compiled 45.1% C 0.0%");
	top_view->width = 30;
	assert_string_equal(line_of(fixture, "interpreted "), "interpreted 51.6%");
	for (top_view->height = 1; top_view->height < 30; top_view->height++)
		for (top_view->width = 1; top_view->width < 100; top_view->width++) {
			view_fixture__draw(fixture->screen);
			assert_in_range(fixture->screen->count, 1, top_view->height);
			for (unsigned i = 0; i < fixture->screen->count; i++)
				assert_in_range(terminal__width(fixture->screen->lines[i]), 0,
						top_view->width);
		}
}

static void leaves_room_for_rows_and_help(void **state)
{
	struct fixture *fixture = *state;
	struct top_view *top_view = &fixture->screen->top_view;

	run_both(fixture);
	for (unsigned limit = 0; limit < 2; limit++) {
		top_view->limit.ppm = 10000 * limit;
		top_view->height = 9 + limit;
		assert_null(line_of(fixture, "interpreted "));
		top_view->height++;
		assert_non_null(line_of(fixture, "interpreted "));
		assert_int_equal(top_view__rows(top_view), 2);
	}
	top_view->height = 24;
	listing__press(&fixture->screen->listing, 'h');
	assert_null(line_of(fixture, "interpreted "));
	assert_non_null(line_of(fixture, "limit: "));
}

#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(counts_what_processes_did),
		test(those_that_ended_earlier_count),
		test(has_no_line_where_nothing_is_compiled),
		test(shows_shares_of_the_last_second),
		test(keeps_the_line_when_a_second_has_no_machine_code),
		test(is_of_the_process_that_is_shown),
		test(fits_narrow_and_low_screens),
		test(leaves_room_for_rows_and_help),
	};

	return cmocka_run_group_tests_name("top_view_split", tests, NULL, NULL);
}
