/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "summary.h"
#include "terminal.h"

enum { HOST = 1, UNREADABLE, UNSAMPLED, FIB, ANONYMOUS, GSUB, LAST = 20 };

/* A profile by hand, for each test to bend. */
struct fixture {
	struct ls_profile_function functions[LAST + 1];
	uint64_t self_us[LAST + 1], total_us[LAST + 1];
	struct ls_profile profile;
	struct ls_totals totals;
	char *text; /* what was printed last */
};

static void set_function(struct fixture *fixture, uint32_t id, const char *name, const char *source,
			 uint32_t line)
{
	fixture->functions[id] =
		(struct ls_profile_function){.name = name, .source = source, .line = line};
	if (fixture->profile.function_count < id)
		fixture->profile.function_count = id;
}

static void set_time(struct fixture *fixture, uint32_t id, uint64_t self_us, uint64_t total_us)
{
	fixture->totals.all_us += self_us - fixture->self_us[id];
	fixture->self_us[id] = self_us;
	fixture->total_us[id] = total_us;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct ls_profile_recorder *recorder;

	if (!fixture)
		return -1;
	*state = fixture;
	fixture->profile.functions = fixture->functions;
	fixture->totals.function_self_us = fixture->self_us;
	fixture->totals.function_total_us = fixture->total_us;
	set_function(fixture, HOST, "(host)", NULL, 0);
	set_function(fixture, UNREADABLE, "(unreadable)", NULL, 0);
	set_function(fixture, UNSAMPLED, "(unsampled)", NULL, 0);
	set_function(fixture, FIB, "fib", "bench/fib.lua", 3);
	set_function(fixture, ANONYMOUS, NULL, "bench/fib.lua", 12);
	set_function(fixture, GSUB, "string.gsub", "[C]", 0);
	set_time(fixture, HOST, 1000000, 1000000);
	set_time(fixture, FIB, 6000000, 9000000);
	set_time(fixture, ANONYMOUS, 2000000, 9000000);
	set_time(fixture, GSUB, 1000000, 1000000);

	recorder = &fixture->profile.recorder;
	recorder->target = "lua5.4 (pid 42)";
	recorder->interpreter = "Lua 5.4.4 in /usr/bin/lua5.4";
	recorder->layout = "5.4.0-5.4.6";
	recorder->period_ns = 1000000;
	recorder->duration_ns = 20004000000;
	recorder->cpu_ns = 10000000400;
	recorder->samples = 10000;
	recorder->classes[LS_SAMPLE_COMPLETE] = 9000;
	recorder->classes[LS_SAMPLE_HOST] = 1000;
	recorder->errors[LS_WALK_NO_SCRIPT] = 1000;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	setlocale(LC_CTYPE, "C");
	free(fixture->text);
	free(fixture);
	return 0;
}

static const char *print(struct fixture *fixture)
{
	size_t size;
	FILE *stream;

	free(fixture->text);
	fixture->text = NULL;
	stream = open_memstream(&fixture->text, &size);
	assert_non_null(stream);
	summary__print(&fixture->profile, &fixture->totals, stream);
	fclose(stream);
	assert_non_null(fixture->text);
	return fixture->text;
}

static void assert_shows(struct fixture *fixture, const char *lines)
{
	if (!strstr(print(fixture), lines))
		fail_msg("missing:\n%s\nin:\n%s", lines, fixture->text);
}

static void assert_hides(struct fixture *fixture, const char *text)
{
	if (strstr(print(fixture), text))
		fail_msg("unexpected:\n%s\nin:\n%s", text, fixture->text);
}

static void assert_width(char *text, unsigned columns)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned taken;

		terminal__fit(line, 10000, &taken);
		if (taken > columns)
			fail_msg("%u columns: %s", taken, line);
		for (const char *c = line; *c; c++)
			assert_in_range((unsigned char)*c, 0x20, 0xff);
	}
}

static void prints_a_plain_session_like_this(void **state)
{
	assert_string_equal(
		print(*state),
		"lua5.4 (pid 42)\n"
		"  interpreter  Lua 5.4.4 in /usr/bin/lua5.4\n"
		"  layout       5.4.0-5.4.6\n"
		"  wall clock   0:00:20.004\n"
		"  CPU time     0:00:10.000, 50.0% of the wall clock\n"
		"  frequency    1,000 Hz\n"
		"\n"
		"Samples\n"
		"  complete     9,000   90.0%\n"
		"  host         1,000   10.0%  no script is on the thread's stack\n"
		"  --------------------------\n"
		"  all         10,000  100.0%\n"
		"\n"
		"CPU time\n"
		"  script      0:00:09.000   90.0%\n"
		"  host        0:00:01.000   10.0%  no script is on the stack\n"
		"  -------------------------------\n"
		"  all         0:00:10.000  100.0%\n"
		"\n"
		"Hottest functions, by self time\n"
		"        self    time   total            function     source\n"
		"   1   60.0%  6.00 s   90.0%  ########  fib          bench/fib.lua:3\n"
		"   2   20.0%  2.00 s   90.0%  ###       <anonymous>  bench/fib.lua:12\n"
		"   3   10.0%  1.00 s   10.0%  #         string.gsub  [C]\n");
}

static void tells_what_it_cost_where_that_was_limited(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_overhead *overhead = &fixture->profile.recorder.overhead;

	assert_hides(fixture, "overhead");
	*overhead = (struct ls_profile_overhead){.limit_ppm = 10000,
						 .interrupts_ns = 30000000,
						 .bpf_ns = 20000000,
						 .own_ns = 10000000};
	assert_shows(fixture,
		     "  frequency    1,000 Hz\n"
		     "  overhead     0.6% of CPU time: interrupts 0.3%, BPF 0.2%, luaspy 0.1%\n");
	overhead->lowered_ns = 12000000000;
	overhead->period_most_ns = 4000000;
	assert_shows(
		fixture,
		"  frequency    1,000 Hz; for 0:00:12.000 less, down to 250 Hz, to keep to 1%\n"
		"  overhead     0.6%");
}

static void draws_bars_in_eighths_where_the_locale_is_utf8(void **state)
{
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_shows(*state,
		     "\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  fib          bench");
	assert_shows(*state, "  \u2588\u2588\u258b       <anonymous>  bench");
	assert_shows(*state, "  \u2588\u258d        string.gsub  [C]");
}

static void shows_the_collectors_share_or_that_it_is_not_known(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	assert_null(strstr(print(fixture), "GC:"));
	recorder->collector_unknown = "the file has no unwind tables";
	assert_shows(fixture, "  GC: not known (the file has no unwind tables)\n");
	recorder->collector = "by its code";
	assert_shows(fixture,
		     "  GC: 0.0% of CPU time, part of script; not known of some (the file has no\n"
		     "  unwind tables)\n");
	recorder->collector_unknown = NULL;
	assert_shows(fixture, "  GC: 0.0% of CPU time, part of script\n");
	set_function(fixture, ANONYMOUS, "GC", "GC", 0);
	assert_shows(fixture, "  GC: 20.0% of CPU time, part of script\n");
}

static void accounts_for_every_sample(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	recorder->classes[LS_SAMPLE_COMPLETE] = 8700;
	recorder->classes[LS_SAMPLE_TRUNCATED] = 250;
	recorder->classes[LS_SAMPLE_TORN] = 5;
	recorder->classes[LS_SAMPLE_UNREADABLE] = 40;
	recorder->classes[LS_SAMPLE_DROPPED] = 5;
	recorder->errors[LS_WALK_DEPTH] = 250;
	recorder->errors[LS_WALK_FRAME_MEMORY] = 2;
	recorder->errors[LS_WALK_FRAME_PROTO] = 3;
	recorder->errors[LS_WALK_STATE_MEMORY] = 40;
	assert_shows(fixture,
		     "  complete     8,700   87.0%\n"
		     "  host         1,000   10.0%  no script is on the thread's stack\n"
		     "  truncated      250    2.5%  the stack is deeper than --max-depth\n"
		     "  torn             5    0.1%\n"
		     "                   2          a frame could not be read\n"
		     "                   3          a frame's prototype does not fit its program\n"
		     "                              counter\n"
		     "  unreadable      40    0.4%  a lua_State could not be read\n"
		     "  dropped          5    0.1%  no room in the ring buffer\n"
		     "  --------------------------\n"
		     "  all         10,000  100.0%\n");
	assert_hides(fixture, "add up");
}

static void names_every_reason_of_the_walkers(void **state)
{
	static const char *const sentences[] = {
#define X(code, class, counter, sentence) sentence,
		LS_WALK_ERRORS(X)
#undef X
	};
	struct fixture *fixture = *state;

	for (int error = LS_WALK_NONE + 1; error < LS_WALK_ERROR_COUNT; error++) {
		char first_words[24];

		snprintf(first_words, sizeof(first_words), "%s", sentences[error]);
		fixture->profile.recorder.errors[error] = 7;
		assert_shows(fixture, first_words);
	}
	fixture->profile.recorder.errors[LS_WALK_NONE] = 8321;
	assert_hides(fixture, "8,321");
}

static void says_when_the_classes_do_not_add_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->profile.recorder.samples = 10001;
	assert_shows(fixture, "  the classes add up to 10000 samples: please report this\n");
}

static void accounts_for_the_cpu_time(void **state)
{
	struct fixture *fixture = *state;

	set_time(fixture, UNREADABLE, 500000, 500000);
	set_time(fixture, UNSAMPLED, 1, 1);
	set_time(fixture, FIB, 5499999, 9000000);
	assert_shows(fixture, "  script      0:00:08.499   85.0%\n"
			      "  host        0:00:01.000   10.0%  no script is on the stack\n"
			      "  unreadable  0:00:00.500    5.0%  the stack could not be read\n"
			      "  unsampled   0:00:00.000   <0.1%  covered by no sample\n"
			      "  -------------------------------\n"
			      "  all         0:00:10.000  100.0%\n");
}

static void takes_no_script_function_for_the_host(void **state)
{
	struct fixture *fixture = *state;

	set_function(fixture, FIB, "(host)", "evil.lua", 1);
	assert_shows(fixture, "  host        0:00:01.000   10.0%  no script is on the stack\n");
	assert_shows(fixture, "(host)       evil.lua:1\n");
}

static void mentions_only_what_was_counted(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	assert_hides(fixture, "Also counted");
	recorder->unnamed_calls = 1304;
	assert_shows(fixture, "\nAlso counted\n"
			      "  1,304  calls whose name could not be read\n"
			      "\nHottest");
	recorder->collected = 12;
	recorder->vma_busy = 3;
	recorder->evicted_samples = 50;
	recorder->evicted_functions = 4;
	recorder->lost_records = 1;
	recorder->ignored_samples = 7;
	recorder->untimed_samples = 8;
	recorder->missed_processes = 2;
	assert_shows(
		fixture,
		"     12  samples with a function that was collected before it could be read\n"
		"  1,304  calls whose name could not be read\n"
		"      3  look-ups of stack bounds that the kernel refused (EBUSY)\n"
		"     50  samples in (other) or below\n"
		"      4  functions, seen too seldom to be kept apart, that went into (other)\n"
		"      7  samples in functions that are ignored, which their callers have\n"
		"      8  samples, the last ones, that found no room in the timeline\n"
		"      1  record besides samples that found no room in the ring buffer\n"
		"      2  processes that could not be looked into, or be sampled\n");
	recorder->untimed_samples = 1;
	recorder->missed_processes = 1;
	assert_shows(fixture,
		     "      1  sample, the last one, that found no room in the timeline\n");
	assert_shows(fixture, "      1  process that could not be looked into, or be sampled\n");
}

static void shows_the_ten_hottest_in_order(void **state)
{
	struct fixture *fixture = *state;
	const char *at;

	for (uint32_t id = GSUB + 1; id <= LAST; id++) {
		set_function(fixture, id, "tepid", "a.lua", id);
		set_time(fixture, id, id * 100, id * 100);
	}
	/* As hot as another: the greater total goes first. */
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

static void shows_the_hottest_line_where_it_fits(void **state)
{
	static const struct ls_profile_line lines[] = {{.line = 4}, {.line = 7}, {.line = 9}};
	static uint64_t line_us[] = {1000000, 4500000, 500000};
	struct fixture *fixture = *state;

	fixture->functions[FIB].line_count = 3;
	fixture->profile.lines = lines;
	fixture->profile.line_count = 3;
	fixture->totals.line_self_us = line_us;
	assert_shows(fixture, "fib          bench/fib.lua:3 (:7 75.0%)\n");
	assert_shows(fixture, "<anonymous>  bench/fib.lua:12\n");
	fixture->functions[FIB].source = "a/long/name/fib.lua";
	assert_shows(fixture, "fib          a/long/name/fib.lua:3\n");
	/* With --lines the line that it is at takes the place of its own. */
	fixture->functions[FIB].line_count = 0;
	fixture->functions[FIB].current_line = 7;
	assert_shows(fixture, "fib          a/long/name/fib.lua:7\n");
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
			      "  none: no script used CPU time\n");
	assert_shows(fixture, "  script      0:00:00.000    0.0%\n"
			      "  host        0:00:01.000  100.0%");
}

static void survives_a_session_that_saw_nothing(void **state)
{
	struct fixture *fixture = *state;

	memset(fixture->self_us, 0, sizeof(fixture->self_us));
	memset(&fixture->profile.recorder, 0, sizeof(fixture->profile.recorder));
	fixture->totals.all_us = 0;
	fixture->profile.function_count = 0;
	assert_shows(fixture, "  interpreter  none\n"
			      "  layout       undecided\n");
	assert_shows(fixture, "  all         0       -\n");
}

static void escapes_every_name_and_keeps_to_80_columns(void **state)
{
	struct fixture *fixture = *state;
	static char endless[5000];

	memset(endless, '\033', sizeof(endless) - 1);
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
		assert_shows(fixture, "ev\\x1b[2Jil\\x0a(pid 42)\n");
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
	summary__print(&fixture->profile, &fixture->totals, stream);
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
	assert_non_null(strstr(text, "/x.lua:7\n"));
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

#define with_profile(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void says_how_long_it_was_paused(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	assert_hides(fixture, "pause");
	recorder->paused_ns = 4004000000;
	assert_shows(fixture, "  wall clock   0:00:20.004, paused for 0:00:04.004\n");
	assert_shows(fixture, "62.5% of the wall clock without pauses\n");
	recorder->events_left_out = 12;
	assert_shows(fixture, "  12  marks and pauses beyond those that are kept\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_profile(prints_a_plain_session_like_this),
		with_profile(tells_what_it_cost_where_that_was_limited),
		with_profile(draws_bars_in_eighths_where_the_locale_is_utf8),
		with_profile(accounts_for_every_sample),
		with_profile(shows_the_collectors_share_or_that_it_is_not_known),
		with_profile(names_every_reason_of_the_walkers),
		with_profile(says_when_the_classes_do_not_add_up),
		with_profile(accounts_for_the_cpu_time),
		with_profile(takes_no_script_function_for_the_host),
		with_profile(mentions_only_what_was_counted),
		with_profile(shows_the_ten_hottest_in_order),
		with_profile(shows_the_hottest_line_where_it_fits),
		with_profile(tells_plugins_from_others),
		with_profile(says_when_no_script_ran),
		with_profile(survives_a_session_that_saw_nothing),
		with_profile(escapes_every_name_and_keeps_to_80_columns),
		with_profile(fits_the_terminal_that_it_goes_to),
		with_profile(says_how_long_it_was_paused),
	};

	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
