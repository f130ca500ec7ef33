/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "summary_fixture.h"

static void prints_a_plain_session_like_this(void **state)
{
	assert_string_equal(
		print(*state),
		"lua5.4 (pid 42): Lua 5.4.4, 10.0 s of CPU time in 20.0 s, 1,000 Hz\n"
		"\n"
		"Hottest functions, by self time\n"
		"        self    time   total            function     source\n"
		"   1   60.0%  6.00 s   90.0%  ########  fib          bench/fib.lua:3\n"
		"   2   20.0%  2.00 s   90.0%  ###       <anonymous>  bench/fib.lua:12\n"
		"   3   10.0%  1.00 s   10.0%  #         string.gsub  [C]\n"
		"\n"
		"100.0% of 10,000 samples whole; script 90.0% of CPU time\n");
}

static void names_each_release_once_and_no_file(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	recorder->interpreter = "Lua 5.1.5 in /a in b, shared; Lua 5.4.6 in /c; Lua 5.1.5 in /d";
	assert_shows(fixture, "lua5.4 (pid 42): Lua 5.1.5; Lua 5.4.6, 10.0 s of CPU");
	assert_hides(fixture, "/c");
	recorder->interpreter = NULL;
	assert_shows(fixture, "lua5.4 (pid 42): no interpreter, 10.0 s");
}

static void draws_bars_in_eighths_where_the_locale_is_utf8(void **state)
{
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_shows(*state,
		     "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  fib          bench");
	assert_shows(*state, "  \u2588\u2588\u258b       <anonymous>  bench");
	assert_shows(*state, "  \u2588\u258d        string.gsub  [C]");
}

static void mentions_the_share_of_script_unless_it_is_nearly_all(void **state)
{
	struct fixture *fixture = *state;

	assert_shows(fixture, "script 90.0% of CPU time");
	set_time(fixture, HOST, 400000, 400000);
	assert_hides(fixture, "of CPU time\n");
}

static void shows_the_ten_hottest_in_order(void **state)
{
	struct fixture *fixture = *state;
	const char *at;

	for (uint32_t id = GSUB + 1; id <= LAST; id++) {
		set_function(fixture, id, "tepid", "a.lua", id);
		set_time(fixture, id, id * 100, id * 100);
	}
	/* Of equally hot functions, the one with the greater total comes first. */
	set_time(fixture, 10, 2000, 2000);
	set_time(fixture, 20, 2000, 9000);
	/* Too cold, and seen when the ten are full. */
	set_time(fixture, 19, 100, 100);
	print(fixture);
	assert_non_null(strstr(fixture->text, "\n  10  "));
	assert_null(strstr(fixture->text, "\n  11  "));
	at = strstr(fixture->text, "a.lua:20\n");
	assert_non_null(at);
	assert_non_null(strstr(at, "a.lua:10\n"));
	assert_non_null(strstr(at, "a.lua:14\n"));
	assert_null(strstr(fixture->text, "a.lua:13\n"));
	assert_null(strstr(fixture->text, "a.lua:19\n"));
}

static const struct ls_profile_line lines[] = {{.line = 4}, {.line = 7}, {.line = 9}};

static void give_lines(struct fixture *fixture, uint64_t line_us[3])
{
	fixture->functions[FIB].line_count = 3;
	fixture->profile.lines = lines;
	fixture->profile.line_count = 3;
	fixture->totals.line_self_us = line_us;
}

static void shows_the_hottest_line(void **state)
{
	uint64_t line_us[] = {1000000, 4500000, 500000};
	struct fixture *fixture = *state;

	give_lines(fixture, line_us);
	assert_shows(fixture, "fib          bench/fib.lua:3 ->:7 75%\n");
	assert_shows(fixture, "<anonymous>  bench/fib.lua:12\n");
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_shows(fixture, "fib          bench/fib.lua:3 \u2192:7 75%\n");
	/* With --lines the line that it is at takes the place of its own. */
	fixture->functions[FIB].line_count = 0;
	fixture->functions[FIB].current_line = 7;
	assert_shows(fixture, "fib          bench/fib.lua:7\n");
}

static void shortens_a_path_at_a_slash_and_keeps_the_lines(void **state)
{
	uint64_t line_us[] = {1000000, 4500000, 500000};
	struct fixture *fixture = *state;

	give_lines(fixture, line_us);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	fixture->functions[FIB].source = "/srv/www/application/lib/fib.lua";
	assert_shows(fixture, "fib          \u2026/lib/fib.lua:3 \u2192:7 75%\n");
	assert_shows(fixture, "<anonymous>  bench/fib.lua:12\n");
	fixture->functions[FIB].source = "/srv/a_file_of_a_very_long_name.lua";
	assert_shows(fixture, "fib          \u2026ry_long_name.lua:3 \u2192:7 75%\n");
	fixture->functions[FIB].source = "[string \"return function(a, b) end\"]";
	assert_shows(fixture, "fib          [string \"return \u2026:3 \u2192:7 75%\n");
	fixture->functions[FIB].line = UINT32_MAX;
	assert_shows(fixture, "\u2026:4294967295 \u2192:7 75%\n");
	setlocale(LC_CTYPE, "C");
	fixture->functions[FIB].source = "/srv/www/application/lib/fib.lua";
	fixture->functions[FIB].line = 3;
	assert_shows(fixture, "fib          .../lib/fib.lua:3 ->:7 75%\n");
}

static void bars_give_way_to_names_and_lines(void **state)
{
	struct fixture *fixture = *state;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	set_function(fixture, ANONYMOUS, "name_of_23_columns_-___", "a/dir/file.lua", 12);
	assert_shows(fixture, "   90.0%  ████████  fib ");
	set_function(fixture, ANONYMOUS, "name_of_23_columns_-___", "a/dir/somewhere/file.lua",
		     12345);
	assert_shows(fixture, "   90.0%  ████  fib ");
	assert_shows(fixture, "name_of_23_columns_-___  \u2026/file.lua:12345\n");
	assert_width(fixture->text, 80);
}

/* Only the row that is too long is cut. */
static void one_long_row_costs_others_nothing(void **state)
{
	struct fixture *fixture = *state;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	set_function(fixture, GSUB, "str.gsub", "a/place/that/just/fits.lua", 17);
	set_function(fixture, ANONYMOUS, "a_name_that_is_longer_than_its_column",
		     "src/a/path/that/is/long/enough/x.lua", 12);
	assert_shows(fixture, "  fib       bench/fib.lua:3\n");
	assert_shows(fixture, "  a_name_that_is_longer_than_its_co\u2026  x.lua:12\n");
	assert_shows(fixture, "  str.gsub  a/place/that/just/fits.lua:17\n");
	assert_width(fixture->text, 80);
	/* It takes what its own row has left. */
	set_function(fixture, ANONYMOUS, "a_name_that_is_longer_than_its_column", "[C]", 0);
	assert_shows(fixture, "  a_name_that_is_longer_than_its_col\u2026  [C]\n");
	assert_shows(fixture, "  str.gsub   a/place/that/just/fits.lua:17\n");
	/* If there is room, every cell is in its column. */
	setenv("COLUMNS", "120", 1);
	assert_shows(fixture, "  a_name_that_is_longer_than_its_column  [C]\n");
	assert_shows(fixture,
		     "  str.gsub                               a/place/that/just/fits.lua:17\n");
}

static void is_as_wide_as_the_environment_says(void **state)
{
	static const char source[] = "/a/path/that/is/longer/than/what/eighty/columns/leave/x.lua";
	struct fixture *fixture = *state;

	set_function(fixture, FIB, "fib", source, 7);
	setenv("COLUMNS", "120", 1);
	assert_shows(fixture, source);
	assert_width(fixture->text, 120);
	setenv("COLUMNS", "40", 1);
	assert_shows(fixture, "   1   60.0%  fib         .../x.lua:7\n");
	assert_width(fixture->text, 40);
	for (const char *const *bad =
		     (const char *const[]){"39", "501", "", "80x", "-90", "x", "00000090", NULL};
	     *bad; bad++) {
		setenv("COLUMNS", *bad, 1);
		assert_shows(fixture, "fib          .../columns/leave/x.lua:7\n");
	}
}

static void breaks_no_line_between_a_number_and_its_unit(void **state)
{
	struct fixture *fixture = *state;

	fixture->profile.recorder.target = "lua5.4 a script with quite a long name.lua";
	for (unsigned width = 60; width <= 120; width++) {
		char columns[8];

		snprintf(columns, sizeof(columns), "%u", width);
		setenv("COLUMNS", columns, 1);
		assert_hides(fixture, "\nHz");
		assert_hides(fixture, "\ns of CPU");
		assert_hides(fixture, "\ns, ");
	}
}

static void tells_plugins_from_others(void **state)
{
	struct fixture *fixture = *state;

	fixture->functions[FIB].flags = LS_FUNCTION_PLUGIN;
	assert_shows(fixture, "fib <plugin>  bench/fib.lua:3\n");
	assert_shows(fixture, "<anonymous>   bench/fib.lua:12\n");
}

static void says_when_no_script_ran(void **state)
{
	struct fixture *fixture = *state;

	set_time(fixture, FIB, 0, 0);
	set_time(fixture, ANONYMOUS, 0, 0);
	set_time(fixture, GSUB, 0, 0);
	assert_shows(fixture, "\nHottest functions, by self time\n"
			      "  none: no sample has script on its stack\n");
	assert_shows(fixture, "whole; script 0.0% of CPU time\n");
	memset(fixture->profile.recorder.classes, 0, sizeof(fixture->profile.recorder.classes));
	fixture->profile.recorder.classes[LS_SAMPLE_HOST] = fixture->profile.recorder.samples;
	fixture->profile.recorder.gc = "lua_newstate calls it";
	assert_shows(fixture, "\nno script in 10,000 samples\n");
}

/* With --coroutine. */
static void says_when_no_coroutine_fits(void **state)
{
	struct fixture *fixture = *state;

	set_function(fixture, FIB, PROFILE_OTHER_COROUTINES, NULL, 0);
	fixture->profile.recorder.gc = "lua_newstate calls it";
	assert_shows(fixture, "  <anonymous>  bench/fib.lua:12\n");
	set_time(fixture, ANONYMOUS, 0, 0);
	set_time(fixture, GSUB, 0, 0);
	assert_shows(fixture, "\nHottest functions, by self time\n"
			      "  none: script ran in other coroutines only\n");
	assert_hides(fixture, "GC ");
	set_function(fixture, FIB, "fib", "bench/fib.lua", 3);
	assert_shows(fixture, "; GC 0.0%\n");
}

static void survives_a_session_that_saw_nothing(void **state)
{
	struct fixture *fixture = *state;

	memset(fixture->self_us, 0, sizeof(fixture->self_us));
	memset(&fixture->profile.recorder, 0, sizeof(fixture->profile.recorder));
	fixture->totals.all_us = 0;
	fixture->profile.function_count = 0;
	fixture->all = true;
	assert_shows(fixture, "nothing: no interpreter, 0 s of CPU time in 0 s, 0 Hz\n");
	assert_shows(fixture, "\nno samples\n\n  layout       undecided\n");
	assert_shows(fixture, "  all         0       -\n");
}

static void escapes_every_name_and_keeps_to_80_columns(void **state)
{
	struct fixture *fixture = *state;
	static char endless[5000];

	memset(endless, '\033', sizeof(endless) - 1);
	fixture->all = true;
	for (int utf8 = 0; utf8 < 2; utf8++) {
		setlocale(LC_CTYPE, utf8 ? "C.UTF-8" : "C");
		fixture->profile.recorder.target = "ev\033[2Jil\n(pid 42)";
		fixture->profile.recorder.interpreter = endless;
		fixture->profile.recorder.layout = "a\u202eb and many other words that go on, and "
						   "on, and on, and on, until they are wrapped";
		set_function(fixture, FIB, endless, endless, UINT32_MAX);
		set_function(fixture, ANONYMOUS,
			     "\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587"
			     "\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587",
			     "x\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d"
			     "\u6587\u4e2d\u6587\u4e2d\u6587",
			     123);
		fixture->profile.recorder.classes[LS_SAMPLE_TORN] = UINT64_MAX;
		fixture->profile.recorder.samples = UINT64_MAX;
		assert_shows(fixture, "ev\\x1b[2Jil\\x0a(pid 42): no interpreter, 10.0 s");
		assert_shows(fixture, "  layout       a\\xe2\\x80\\xaeb and many");
		assert_shows(fixture, ":4294967295\n");
		assert_width(fixture->text, 80);
	}
}

/* Prints to a pseudo-terminal, which holds one summary without a reader. */
static char *print_to_terminal(struct fixture *fixture, unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	static char text[16384];
	size_t used = 0;
	ssize_t length;
	FILE *stream;

	assert_return_code(master, 0);
	assert_return_code(grantpt(master), 0);
	assert_return_code(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_NONBLOCK);
	assert_return_code(slave, 0);
	assert_return_code(ioctl(slave, TIOCSWINSZ, &size), 0);
	stream = fdopen(slave, "w");
	assert_non_null(stream);
	summary__print(&fixture->profile, &fixture->totals,
		       &(struct summary_options){
			       .words = category_words__of(CATEGORY_PROCESS, GROUPING_NONE)},
		       stream);
	assert_int_equal(fflush(stream), 0);
	fclose(stream);
	/* Blocks until all has arrived: with nobody at the other end, it ends with an error. */
	while ((length = read(master, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)length;
	text[used] = '\0';
	close(master);
	/* The terminal ends lines with "\r\n". */
	for (char *c = text; (c = strchr(c, '\r'));)
		memmove(c, c + 1, strlen(c));
	return text;
}

static void fits_the_terminal_that_it_goes_to(void **state)
{
	static const char source[] = "/a/path/that/is/longer/than/what/eighty/columns/leave/x.lua";
	struct fixture *fixture = *state;
	char *text;

	set_function(fixture, FIB, "a_function_with_a_long_name", source, 7);
	text = print_to_terminal(fixture, 160);
	assert_non_null(strstr(text, source));
	assert_width(text, 160);
	text = print_to_terminal(fixture, 60);
	assert_null(strstr(text, "#"));
	assert_non_null(strstr(text, " x.lua:7\n"));
	assert_width(text, 60);
	set_function(fixture, GSUB, "f",
		     "\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587"
		     "\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587",
		     123);
	for (unsigned short columns = 1; columns < 120; columns++) {
		text = print_to_terminal(fixture, columns);
		/* Wide characters in pairs of columns must not push the end out. */
		if (columns > 66)
			assert_non_null(strstr(text, ":123\n"));
		assert_width(text, columns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_summary(prints_a_plain_session_like_this),
		with_summary(names_each_release_once_and_no_file),
		with_summary(draws_bars_in_eighths_where_the_locale_is_utf8),
		with_summary(mentions_the_share_of_script_unless_it_is_nearly_all),
		with_summary(shows_the_ten_hottest_in_order),
		with_summary(shows_the_hottest_line),
		with_summary(shortens_a_path_at_a_slash_and_keeps_the_lines),
		with_summary(bars_give_way_to_names_and_lines),
		with_summary(one_long_row_costs_others_nothing),
		with_summary(is_as_wide_as_the_environment_says),
		with_summary(breaks_no_line_between_a_number_and_its_unit),
		with_summary(tells_plugins_from_others),
		with_summary(says_when_no_script_ran),
		with_summary(says_when_no_coroutine_fits),
		with_summary(survives_a_session_that_saw_nothing),
		with_summary(escapes_every_name_and_keeps_to_80_columns),
		with_summary(fits_the_terminal_that_it_goes_to),
	};

	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
