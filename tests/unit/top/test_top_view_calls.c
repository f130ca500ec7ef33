/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Callers and callees on the screen, averages, and what is hidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/terminal.h"
#include "view_fixture.h"
#include "top/top_view.h"

#define STATUS 22 /* on 80 by 24 */

static const struct shown_function program[] = {
	{"@/srv/app/main.lua", "main chunk", 0, 0, 0, NULL},
	{"@/srv/app/main.lua", "hot", 10, 100, 600, "main chunk"},
	{"@/srv/app/json.lua", "decode", 5, 50, 300, "hot"},
	{"GC", "GC", 0, 50, 100, "decode"},
};

static int set_up(void **state)
{
	const struct top_view top_view = {
		.target = "lua5.4 (pid 42)",
		.gc_is_known = true,
	};

	if (view_fixture__set_up(state, &top_view))
		return -1;
	view_fixture__show(*state, program, sizeof(program) / sizeof(program[0]), 1);
	return 0;
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, view_fixture__tear_down)

/* As the program does it: what a key asks for, then the screen. */
static void press(struct view_fixture *fixture, uint32_t key)
{
	enum listing_demand demand = listing__press(&fixture->listing, key);

	if (demand == LISTING_COUNT) {
		struct calls_choice choice = listing__choice(&fixture->listing);

		assert_int_equal(function_calls__count(fixture->stats, &choice), 0);
	}
	if (demand == LISTING_HIDE)
		assert_int_equal(function_stats__hide(fixture->stats, fixture->listing.hidden), 0);
	view_fixture__draw(fixture);
}

static void assert_lines(const struct view_fixture *fixture, unsigned first,
			 const char *const *lines)
{
	for (unsigned i = 0; lines[i]; i++)
		view_fixture__assert_line(fixture, first + i, lines[i]);
}

static void enter(struct view_fixture *fixture, uint32_t row)
{
	view_fixture__draw(fixture);
	press(fixture, LISTING_HOME);
	for (uint32_t i = 0; i < row; i++)
		press(fixture, LISTING_DOWN);
	press(fixture, LISTING_ENTER);
}

static void shows_callers_and_callees(void **state)
{
	static const char *const lines[] = {
		"   cpu%  share%    >time    share         function        source",
		"  40.0%  100.0%    0.50s   100.0%  caller hot             @/srv/app/main.lua:10",
		"  40.0%  100.0%    0.50s   100.0%         decode          @/srv/app/json.lua:5",
		"  30.0%   75.0%    0.35s    70.0%         (self)",
		"  10.0%   25.0%    0.15s    30.0%  callee GC              GC",
		NULL,
	};
	struct view_fixture *fixture = *state;

	enter(fixture, 1);
	assert_memory_equal(fixture->lines[0], "luaspy top: decode in lua5.4 (pid 42) ", 38);
	assert_lines(fixture, 6, lines);
	view_fixture__assert_line(fixture, STATUS, "1 caller, 1 callee, by time in all");
	assert_int_equal(fixture->styles[7], STYLE_PLAIN);
	assert_int_equal(fixture->styles[8], STYLE_CURSOR);
	press(fixture, LISTING_UP);
	assert_int_equal(fixture->styles[8], STYLE_TITLE);
	press(fixture, '2');
	view_fixture__assert_line(fixture, STATUS,
				  "1 caller, 1 callee, by share of the last second");
}

static void shows_them_on_40_by_10(void **state)
{
	static const char *const lines[] = {
		"   >time    share  function",
		"   0.50s   100.0%  <- hot @/srv/app/mai\u2026",
		"   0.50s   100.0%  decode @/srv/app/jso\u2026",
		"   0.35s    70.0%     (self)",
		"1 caller, 1 callee, by time in all",
		NULL,
	};
	struct view_fixture *fixture = *state;

	fixture->top_view.width = 40;
	fixture->top_view.height = 10;
	enter(fixture, 1);
	assert_lines(fixture, 4, lines);
	press(fixture, LISTING_END);
	view_fixture__assert_line(fixture, 7, "   0.15s    30.0%  -> GC GC");
	press(fixture, '1');
	view_fixture__assert_line(fixture, 4, "  >cpu%  share%  function");
	view_fixture__assert_line(fixture, 7, "  10.0%   25.0%  -> GC GC");
}

static void recent_shares_are_unknown_at_first(void **state)
{
	struct view_fixture *fixture = *state;

	function_stats__free(fixture->stats);
	fixture->stats = function_stats__new(false);
	fixture->top_view.stats = fixture->stats;
	showing__look(fixture->stats, program, 4, 1, true);
	enter(fixture, 0);
	view_fixture__assert_line(fixture, 8,
				  "      -       -    0.20s   100.0%         hot             "
				  "@/srv/app/main.lua:10");
}

static void shows_averages(void **state)
{
	static const char *const lines[] = {
		" >self%  total%    self/1s   total/1s  function         source",
		"  60.0%  100.0%    700.0ms   1200.0ms  hot              @/srv/app/main.lua:10",
		NULL,
	};
	static const char *const heads[] = {"self/1m   total/1m", "self/5m   total/5m",
					    "self/10m  total/10m"};
	static const char *const times[] = {"42.00s     72.00s", "210.00s    360.00s",
					    "420.00s    720.00s"};
	static const char *const states[] = {"[avg 1m] 1-4 of 4", "[avg 5m] 1-4 of 4",
					     "[avg 10m] 1-4 of 4"};
	struct view_fixture *fixture = *state;

	/* One second has passed since the first look, and so has since the start. */
	press(fixture, 'a');
	assert_lines(fixture, 6, lines);
	view_fixture__assert_line(fixture, STATUS,
				  "[avg 1s] 1-4 of 4, by self% of the last second");
	for (unsigned i = 0; i < 3; i++) {
		press(fixture, 'a');
		assert_non_null(strstr(fixture->lines[6], heads[i]));
		assert_non_null(strstr(fixture->lines[7], times[i]));
		assert_memory_equal(fixture->lines[STATUS], states[i], strlen(states[i]));
	}
	press(fixture, 'a');
	assert_memory_equal(fixture->lines[STATUS], "1-4 of 4", 8);
	press(fixture, 'a');
	enter(fixture, 1);
	assert_non_null(strstr(fixture->lines[6], " >time/1s      share "));
	assert_non_null(strstr(fixture->lines[7], " 500.0ms     100.0%  caller hot "));
}

/* Where there is no room for both, averages come instead of what they are no averages of. */
static void shows_averages_where_only_one_pair_fits(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 4, 2);
	view_fixture__draw(fixture);
	assert_non_null(strstr(fixture->lines[6], " >self%  total%  process "));
	press(fixture, 'a');
	assert_non_null(strstr(fixture->lines[6], "   self/1s   total/1s  process "));
	assert_non_null(strstr(fixture->lines[7], "   700.0ms   1200.0ms  1 lua5.4 "));
	press(fixture, '2');
	assert_non_null(strstr(fixture->lines[6], "   self/1s   total/1s  process "));
	for (int i = 0; i < 4; i++)
		press(fixture, 'a');
	assert_non_null(strstr(fixture->lines[6], "  self% >total%  process "));
}

/* What is not there must be in no average either. */
static void averages_leave_out_what_is_hidden(void **state)
{
	struct view_fixture *fixture = *state;

	press(fixture, 'a');
	press(fixture, 'G');
	assert_non_null(strstr(fixture->lines[7], "  700.0ms   1050.0ms  hot "));
	view_fixture__assert_line(fixture, STATUS,
				  "[avg 1s, no GC] 1-3 of 3, by self% of the last second");
}

static void tells_what_is_hidden_on_every_screen(void **state)
{
	struct view_fixture *fixture = *state;
	unsigned status;

	fixture->listing.has_plugins = true;
	fixture->top_view.state = TOP_VIEW_PAUSED;
	fixture->top_view.width = 40;
	press(fixture, 'G');
	press(fixture, 'P');
	press(fixture, 'a');
	for (unsigned height = 2; height < 40; height++) {
		fixture->top_view.height = height;
		view_fixture__draw(fixture);
		status = fixture->count - (height < 7 ? 1 : 2);
		assert_memory_equal(fixture->lines[status], "[avg 1s, no GC, no plugins] ", 28);
	}
	fixture->top_view.message = "wrote x";
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, status, "[avg 1s, no GC, no plugins] wrote x");
	press(fixture, '/');
	press(fixture, 'x');
	view_fixture__assert_line(fixture, status, "[avg 1s, no GC, no plugins] /x_");
}

static void marks_what_plugins_run(void **state)
{
	struct view_fixture *fixture = *state;
	struct patterns plugins = {0};

	patterns__add(&plugins, "@*/json.lua");
	function_stats__free(fixture->stats);
	fixture->stats = function_stats__new(false);
	function_stats__set_plugins(fixture->stats, &plugins);
	fixture->top_view.stats = fixture->stats;
	showing__look(fixture->stats, program, 4, 1, true);
	showing__look(fixture->stats, program, 4, 1, false);
	fixture->top_view.width = 120;
	enter(fixture, 1);
	assert_non_null(strstr(fixture->lines[0], "luaspy top: decode <plugin> in lua5.4"));
	assert_non_null(strstr(fixture->lines[8], " decode <plugin> "));
	assert_non_null(strstr(fixture->lines[10], " callee GC <plugin> "));
	fixture->listing.has_plugins = true;
	press(fixture, 'P');
	view_fixture__assert_line(fixture, 7, "it is hidden (G or P shows it, Esc goes back)");
}

static void says_that_all_is_hidden(void **state)
{
	static const struct shown_function only_gc[] = {{"GC", "GC", 0, 10, 100, NULL}};
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, only_gc, 1, 1);
	fixture->top_view.why_empty = "no samples yet";
	press(fixture, 'G');
	view_fixture__assert_line(fixture, 7, "all of it is hidden (G or P shows it)");
	view_fixture__show(fixture, only_gc, 0, 1);
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 7, "no samples yet");
}

static void names_the_process_of_calls(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 4, 2);
	fixture->top_view.target = "the system";
	enter(fixture, 2);
	assert_memory_equal(fixture->lines[0], "luaspy top: decode in lua5.4 (pid 1) of the system",
			    50);
	/* One of the two. */
	assert_non_null(strstr(fixture->lines[8], " 40.0%  100.0%    0.50s   100.0% "));
	press(fixture, 'v');
	press(fixture, LISTING_ENTER);
	enter(fixture, 1);
	assert_memory_equal(fixture->lines[0], "luaspy top: decode in lua5.4 (pid 1) of the system",
			    50);
	assert_non_null(strstr(fixture->lines[8], " 40.0%  100.0%    0.50s   100.0% "));
}

static void processes_are_averaged_without_what_is_hidden(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 4, 2);
	view_fixture__draw(fixture);
	press(fixture, 'v');
	view_fixture__assert_line(fixture, 7, " 100.0%  100.0%    1.20s    1,200  lua5.4 (pid 1)");
	press(fixture, 'G');
	view_fixture__assert_line(fixture, 7, "  90.0%  100.0%    1.05s    1,050  lua5.4 (pid 1)");
	press(fixture, 'a');
	press(fixture, 'a');
	view_fixture__assert_line(fixture, 6, "  >cpu% script%    time/1m    samples  process");
	view_fixture__assert_line(fixture, 7,
				  "  90.0%  100.0%     63.00s      1,050  lua5.4 (pid 1)");
}

static void escapes_names_of_neighbours(void **state)
{
	static const struct shown_function hostile[] = {
		{"@a\033[2J.lua", "\033]0;title\a", 1, 0, 10, NULL},
		{"@b\r\n.lua", "a\xff", 2, 0, 5, "\033]0;title\a"},
	};
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, hostile, 2, 1);
	enter(fixture, 0);
	assert_non_null(strstr(fixture->lines[0], "\\x1b]0;title\\x07 in lua5.4"));
	assert_non_null(strstr(fixture->lines[10], "@b\\x0d\\x0a.lua:2"));
	for (unsigned i = 0; i < fixture->count; i++)
		for (const char *c = fixture->lines[i]; *c; c++)
			assert_true((unsigned char)*c >= 0x20);
}

static void fits_screens_of_any_size(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->listing.has_plugins = true;
	fixture->listing.hidden = STATS_HIDDEN_ALL;
	for (int average = 0; average < 5; average++) {
		fixture->top_view.width = 80;
		fixture->top_view.height = 24;
		enter(fixture, 1);
		for (unsigned height = 1; height < 40; height += height < 12 ? 1 : 5) {
			for (unsigned width = 1; width < 130; width += width < 12 ? 1 : 7) {
				fixture->top_view.width = width;
				fixture->top_view.height = height;
				view_fixture__draw(fixture);
				assert_in_range(fixture->count, 1, height);
				for (unsigned i = 0; i < fixture->count; i++)
					assert_in_range(terminal__width(fixture->lines[i]), 0,
							width);
			}
		}
		press(fixture, LISTING_ESCAPE);
		press(fixture, 'a');
	}
}

static void the_help_fits_and_tells_all_keys(void **state)
{
	static const char *const told[] = {"Enter    callers and callees", "a        times as ",
					   "G  P     hide the garbage", "v Tab o  processes",
					   "r        count from zero"};
	struct view_fixture *fixture = *state;

	fixture->top_view.limit.ppm = 10000; /* takes a line */
	press(fixture, '?');
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		unsigned at = 0;

		while (at < fixture->count && !strstr(fixture->lines[at], told[i]))
			at++;
		assert_in_range(at, 8, fixture->count - 1);
	}
	fixture->top_view.width = 200;
	view_fixture__draw(fixture);
	for (unsigned i = 8; i < fixture->count - 2; i++)
		assert_in_range(strlen(fixture->lines[i]), 0, 80);
	assert_non_null(strstr(fixture->lines[fixture->count - 1], "a:average G:GC P:plugins"));
}

/* All words of the help, as they are read from one screen after the other. */
static void read_help(struct view_fixture *fixture, char *all, size_t size)
{
	unsigned first = fixture->count - 2 - top_view__rows(&fixture->top_view);
	char last[VIEW_LINE_SIZE] = "";

	all[0] = '\0';
	while (strcmp(last, fixture->lines[first]) != 0) {
		snprintf(last, sizeof(last), "%s", fixture->lines[first]);
		for (const char *word = last + strspn(last, " "); *word;
		     word += strspn(word, " ")) {
			int length = (int)strcspn(word, " ");

			snprintf(all + strlen(all), size - strlen(all), "%.*s ", length, word);
			word += length;
		}
		press(fixture, LISTING_DOWN);
	}
}

static void the_help_scrolls_where_it_does_not_fit(void **state)
{
	struct view_fixture *fixture = *state;
	char all[4096];

	fixture->top_view.width = 40;
	fixture->top_view.height = 10;
	press(fixture, '?');
	view_fixture__assert_line(fixture, 5, "1-5 <> i sort by that column, by the one");
	view_fixture__assert_line(fixture, 6, "         beside; reverse");
	view_fixture__assert_line(fixture, 7, "arrows, PgUp, PgDn, Home, End: move; the");
	view_fixture__assert_line(fixture, 8, "help: 1-3 of 33 (arrows, PgDn)");
	press(fixture, LISTING_PAGE_DOWN);
	view_fixture__assert_line(fixture, 8, "help: 3-5 of 33 (arrows, PgDn)");
	press(fixture, LISTING_END);
	press(fixture, LISTING_DOWN);
	view_fixture__assert_line(fixture, 8, "help: 31-33 of 33 (arrows, PgDn)");
	press(fixture, LISTING_UP);
	view_fixture__assert_line(fixture, 8, "help: 30-32 of 33 (arrows, PgDn)");
	press(fixture, LISTING_HOME);
	read_help(fixture, all, sizeof(all));
	assert_non_null(strstr(all, " w write the profile so far to NAME-PID-DATE.json q Ctrl-C "));
	/* Other keys close it, and it opens at its start. */
	press(fixture, 'x');
	assert_false(fixture->listing.shows_help);
	press(fixture, 'h');
	view_fixture__assert_line(fixture, 8, "help: 1-3 of 33 (arrows, PgDn)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(shows_callers_and_callees),
		with_fixture(shows_them_on_40_by_10),
		with_fixture(recent_shares_are_unknown_at_first),
		with_fixture(shows_averages),
		with_fixture(shows_averages_where_only_one_pair_fits),
		with_fixture(averages_leave_out_what_is_hidden),
		with_fixture(tells_what_is_hidden_on_every_screen),
		with_fixture(marks_what_plugins_run),
		with_fixture(says_that_all_is_hidden),
		with_fixture(names_the_process_of_calls),
		with_fixture(processes_are_averaged_without_what_is_hidden),
		with_fixture(escapes_names_of_neighbours),
		with_fixture(fits_screens_of_any_size),
		with_fixture(the_help_fits_and_tells_all_keys),
		with_fixture(the_help_scrolls_where_it_does_not_fit),
	};

	return cmocka_run_group_tests_name("top view of calls", tests, NULL, NULL);
}
