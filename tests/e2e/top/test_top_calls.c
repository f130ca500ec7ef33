/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy top in a real terminal: callers and callees, averages, and options that hide functions. */
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "watching.h"

/*
 * often() makes three quarters of the calls of hot_part(), seldom() one quarter; every third call
 * is through hot_part() itself. churn() keeps the garbage collector busy.
 */
static const char script[] =
	"local function hot_part(n, depth)\n"
	"	if depth > 0 then local x = hot_part(n, depth - 1) return x end\n"
	"	local x = 0 for i = 1, n do x = x + i % 7 end return x\n"
	"end\n"
	"local function often() local x = hot_part(90000, 0) return x end\n"
	"local function seldom() local x = hot_part(30000, 3) return x end\n"
	"local function churn() local t = {} for i = 1, 300 do t[i] = {i} end return #t end\n"
	"while true do often() seldom() churn() end\n";

static struct child *start_target(struct stage *stage)
{
	struct child *target;

	write_text(stage, "app.lua", script);
	target = start(stage, "lua5.4", "app.lua");
	while (child__cpu_seconds(target) < 0.05)
		sleep_seconds(0.01);
	return target;
}

/* Starts top and waits for a second of samples; the hottest function is first. */
static struct child *start_top(struct stage *stage, const char *options, int width, int height)
{
	struct child *target;
	char all[128];

	need_to_watch();
	target = start_target(stage);
	snprintf(all, sizeof(all), "-p %d %s", target->pid, options);
	watching__start(stage, all, "C.UTF-8", width, height);
	watching__await_seconds(stage, 3, WATCHING_PATIENCE);
	pane__await(stage, "hot_part");
	return target;
}

/* A row of callers and callees. */
struct call {
	char cpu[16], recent_share[16];
	double seconds, share;
};

static struct call read_call(struct stage *stage, const char *name)
{
	struct call call;
	char share[16];
	const char *line = watching__line_with(stage, name, NULL);

	if (sscanf(line, "%15s %15s %lfs %15s", call.cpu, call.recent_share, &call.seconds,
		   share) != 4)
		fail_msg("no row of '%s':\n%s", name, pane__text(stage));
	call.share = watching__percent(share);
	return call;
}

/* The recent columns, once they are known. */
static struct call await_recent(struct stage *stage, const char *name)
{
	double end = now_seconds() + WATCHING_PATIENCE;
	struct call call;

	while (call = read_call(stage, name), call.cpu[0] == '-') {
		if (now_seconds() > end)
			fail_msg("nothing recent of '%s':\n%s", name, pane__text(stage));
		sleep_seconds(0.05);
	}
	return call;
}

static void shows_callers_and_callees(void **state)
{
	struct call often, seldom, chosen;

	start_top(*state, "", 80, 24);
	pane__press(*state, "Enter");
	pane__await(*state, "luaspy top: hot_part in lua5.4 app.lua (pid ");
	pane__await(*state, "2 callers, 0 callees, by time in all");
	await_recent(*state, "caller often");
	/* All values come from one refresh. */
	watching__await_seconds(*state, 5, WATCHING_PATIENCE);
	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	often = read_call(*state, "caller often");
	seldom = read_call(*state, "caller seldom");
	chosen = read_call(*state, " hot_part  ");
	assert_in_range(10 * often.share, 700, 800);
	assert_in_range(10 * seldom.share, 200, 300);
	assert_in_range(10 * watching__percent(often.recent_share), 600, 900);
	assert_in_range(10 * (often.share + seldom.share), 998, 1002);
	assert_in_range(1000 * often.seconds / chosen.seconds, 690, 810);
	assert_in_range(10 * chosen.share, 1000, 1000);
	assert_in_range(10 * read_call(*state, "(self)").share, 980, 1000);
	assert_true(watching__percent(chosen.cpu) > 1);
	assert_non_null(strstr(watching__line_with(*state, "caller often", NULL), "app.lua:5"));
}

static void follows_a_caller_and_returns(void **state)
{
	start_top(*state, "", 80, 24);
	pane__press(*state, "Enter");
	pane__await(*state, "caller often");
	/* Go to seldom(), which is above the function. */
	pane__press(*state, "Up");
	pane__press(*state, "Enter");
	pane__await(*state, "luaspy top: seldom in ");
	pane__await(*state, "callee hot_part");
	pane__press(*state, "End");
	pane__press(*state, "Enter");
	pane__await(*state, "luaspy top: hot_part in ");
	pane__press(*state, "Escape");
	pane__await(*state, "luaspy top: seldom in ");
	pane__press(*state, "Escape");
	pane__await(*state, "luaspy top: hot_part in ");
	pane__press(*state, "Escape");
	pane__await(*state, ">self%");
	/* The view is live all the time. */
	pane__press(*state, "Enter");
	pane__await(*state, "caller often");
	watching__await_seconds(*state, 6, WATCHING_PATIENCE);
	pane__press(*state, "/");
	pane__type(*state, "seld");
	pane__press(*state, "Enter");
	pane__await(*state, "search seld");
	pane__press(*state, "f");
	pane__type(*state, "seld");
	pane__press(*state, "Enter");
	pane__await(*state, "1 caller, 0 callees");
	pane__press(*state, "q");
	watching__await_end(*state, 0);
}

static void shows_calls_in_a_frozen_view(void **state)
{
	struct child *target = start_top(*state, "", 80, 24);
	const char *before;
	double used;

	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	used = child__cpu_seconds(target);
	while (child__cpu_seconds(target) < 1.5 * used + 0.5)
		sleep_seconds(0.1);
	pane__press(*state, "Enter");
	before = stage__own(*state, strdup(pane__await(*state, "caller often")), free);
	/* CPU time since the freeze is not in the view. */
	assert_in_range(1000 * read_call(*state, " hot_part  ").seconds, 1, 1000 * used + 150);
	pane__press(*state, "Escape");
	pane__await(*state, ">self%");
	pane__press(*state, "Enter");
	assert_string_equal(pane__await(*state, "caller often"), before);
	pane__press(*state, "p");
	await_recent(*state, "caller often");
}

static void calls_count_from_zero(void **state)
{
	double calls_seconds, seconds;
	char recent[2][16], self[16];

	start_top(*state, "", 80, 24);
	watching__await_seconds(*state, 5, WATCHING_PATIENCE);
	pane__press(*state, "Enter");
	pane__await(*state, "caller often");
	pane__press(*state, "r");
	watching__await_seconds(*state, 1, 3);
	pane__await(*state, "caller often");
	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	assert_in_range(10 * read_call(*state, "caller often").share, 600, 900);
	calls_seconds = read_call(*state, " hot_part  ").seconds;
	/* Equals the list of functions. */
	pane__press(*state, "Escape");
	pane__await(*state, ">self%");
	assert_int_equal(sscanf(watching__line_with(*state, " hot_part  ", NULL),
				"%15s %15s %15s %lfs", recent[0], recent[1], self, &seconds),
			 4);
	assert_in_range(1000 * seconds, 10, 1000 * 4);
	assert_in_range(1000 * calls_seconds, 1000 * seconds - 15, 1000 * seconds + 15);
}

/* "123.4ms" in seconds. */
static double read_average(struct stage *stage)
{
	const char *line = watching__line_with(stage, " hot_part  ", NULL);
	char recent[2][16];
	double ms;

	if (sscanf(line, "%15s %15s %lfms", recent[0], recent[1], &ms) != 3)
		fail_msg("no average:\n%s", pane__text(stage));
	return ms / 1000;
}

static double read_self(struct stage *stage)
{
	const char *line = watching__line_with(stage, " hot_part  ", NULL);
	char recent[2][16];
	double seconds;

	if (sscanf(line, "%15s %15s %lfs", recent[0], recent[1], &seconds) != 3)
		fail_msg("no time:\n%s", pane__text(stage));
	return seconds;
}

static void averages_over_spans(void **state)
{
	double seconds, average, per_minute;
	int clock = 5;

	start_top(*state, "", 80, 24);
	watching__await_seconds(*state, clock, WATCHING_PATIENCE);
	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	sscanf(strstr(pane__line(*state, 0), "0:00:"), "0:00:%d", &clock);
	seconds = read_self(*state);
	pane__press(*state, "a");
	pane__await(*state, "self/1s   total/1s");
	pane__await(*state, "[avg 1s] paused: ");
	average = read_average(*state);
	/* The clock shows whole seconds. */
	assert_in_range(1000 * average, 1000 * seconds / (clock + 1) - 10,
			1000 * seconds / clock + 10);
	pane__press(*state, "a");
	pane__await(*state, "[avg 1m] ");
	per_minute = read_self(*state);
	assert_in_range(1000 * per_minute, 60 * 1000 * average - 10, 60 * 1000 * average + 10);
	pane__press(*state, "a");
	pane__await(*state, "[avg 5m] ");
	pane__press(*state, "a");
	pane__await(*state, "self/10m  total/10m");
	pane__press(*state, "a");
	pane__await_without(*state, "[avg ");
	assert_in_range(1000 * read_self(*state), 1000 * seconds, 1000 * seconds);
}

static void hides_the_garbage_collector(void **state)
{
	start_top(*state, "", 80, 24);
	pane__await(*state, " GC   ");
	pane__press(*state, "G");
	pane__await_without(*state, " GC   ");
	pane__await(*state, "[no GC] 1-");
	pane__press(*state, "?");
	pane__await(*state, "G  P     hide the garbage collector");
	pane__press(*state, "?");
	pane__press(*state, "P");
	pane__await(*state, "[no GC] no plugins are known: --plugin and --plugin-preset name them");
	pane__press(*state, "G");
	pane__await(*state, " GC   ");
	pane__await_without(*state, "[no GC]");
}

static void takes_its_first_view_from_options(void **state)
{
	start_top(*state, "--average=10m --hide-gc --sort=all-self", 40, 12);
	pane__await(*state, ">self/10m  total/10m  function");
	pane__await(*state, "[avg 10m, no GC] 1-");
	assert_null(strstr(pane__text(*state), " GC GC"));
	pane__press(*state, "Enter");
	pane__await(*state, "<- often app.lua");
	pane__await(*state, "[avg 10m, no GC] 2 callers");
	pane__resize(*state, 40, 5);
	pane__await(*state, "[avg 10m, no GC] 2 callers");
	pane__resize(*state, 80, 24);
	pane__await(*state, "caller often");
}

/* A plugin that calls back into a function of the program's own file. */
static const char plugin[] =
	"return function(work) local x = 0 for i = 1, 90000 do x = x + i % 7 end work() return x end\n";
static const char host[] =
	"local function hot_part() local x = 0 for i = 1, 90000 do x = x + i % 7 end return x end\n"
	"local run_plugin = dofile('plugins/extra.lua')\n"
	"while true do local x = run_plugin(hot_part) x = hot_part() end\n";

static int count_lines_with(struct stage *stage, const char *text)
{
	int count = 0;

	for (const char *at = pane__text(stage); (at = strstr(at, text)); at++)
		count++;
	return count;
}

/* Whether a function in the file has this flag. */
static bool has_flag(const struct scriptprofile *profile, int flag)
{
	json_t *function;
	size_t index;

	json_array_foreach(json_object_get(profile->document, "Functions"), index,
			   function) if (json_integer_value(json_object_get(function, "Flags")) &
					 flag) return true;
	return false;
}

static void marks_hides_and_writes_plugins(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	char options[64];
	glob_t files;

	need_to_watch();
	child__wait(start(stage, "mkdir", "plugins"), WATCHING_PATIENCE);
	write_text(stage, "plugins/extra.lua", plugin);
	write_text(stage, "app.lua", host);
	target = start(stage, "lua5.4", "app.lua");
	snprintf(options, sizeof(options), "-p %d --plugin \"plugins/*\"", target->pid);
	watching__start(stage, options, "C.UTF-8", 100, 24);
	watching__await_seconds(stage, 2, WATCHING_PATIENCE);
	pane__await(stage, "run_plugin <plugin>");
	pane__await(stage, "hot_part <plugin>");
	assert_int_equal(count_lines_with(stage, " hot_part "), 2);
	pane__press(stage, "P");
	pane__await(stage, "[no plugins] 1-");
	pane__await_without(stage, "<plugin>");
	assert_int_equal(count_lines_with(stage, " hot_part "), 1);
	pane__press(stage, "w");
	pane__await(stage, "wrote lua5.4-");
	assert_int_equal(glob(in_folder(stage, "lua5.4-*.json"), 0, NULL, &files), 0);
	assert_true(has_flag(spying__read(stage, files.gl_pathv[0]), 2));
	globfree(&files);
	pane__press(stage, "P");
	pane__await(stage, "run_plugin <plugin>");
}

/* The process of the first row. */
static int read_process(struct stage *stage)
{
	char cells[4][16];
	int pid;

	if (sscanf(watching__line_with(stage, "hot_part", NULL), "%15s %15s %15s %15s %d", cells[0],
		   cells[1], cells[2], cells[3], &pid) != 5)
		fail_msg("no process:\n%s", pane__text(stage));
	return pid;
}

/* The total of a process's function that takes the most time. */
static double read_total(struct stage *stage, int pid)
{
	char cells[3][16], process[32];
	double seconds;

	snprintf(process, sizeof(process), " %d lua5.4", pid);
	if (sscanf(watching__line_with(stage, process, NULL), "%15s %15s %15s %lfs", cells[0],
		   cells[1], cells[2], &seconds) != 4)
		fail_msg("no time:\n%s", pane__text(stage));
	return seconds;
}

static void shows_calls_in_the_process_of_the_row(void **state)
{
	struct stage *stage = *state;
	struct child *first, *second;
	char options[64], title[64];
	double total, seconds;
	int pid;

	need_to_watch();
	first = start_target(stage);
	second = start_target(stage);
	snprintf(options, sizeof(options), "-p %d,%d", first->pid, second->pid);
	watching__start(stage, options, "C.UTF-8", 120, 24);
	watching__await_seconds(stage, 3, WATCHING_PATIENCE);
	pane__await(stage, "hot_part");
	pane__press(stage, "p");
	pane__await(stage, "[paused]");
	pid = read_process(stage);
	snprintf(title, sizeof(title), "(pid %d)", pid);
	pane__press(stage, "Enter");
	pane__await(stage, "luaspy top: hot_part in ");
	pane__await(stage, " and 1 more: ");
	assert_non_null(strstr(pane__line(stage, 0), title));
	/* All values come from one refresh, and agree with the list of functions. */
	pane__press(stage, "p");
	await_recent(stage, "caller often");
	pane__press(stage, "p");
	pane__await(stage, "[paused]");
	assert_in_range(10 * read_call(stage, "caller often").share, 650, 850);
	seconds = read_call(stage, " hot_part  ").seconds;
	pane__press(stage, "Escape");
	pane__await(stage, ">self%");
	total = read_total(stage, pid);
	assert_in_range(1000 * seconds, 1000 * total - 15, 1000 * total + 15);
	/* The same from the list of processes. */
	pane__press(stage, "v");
	pane__await(stage, ">cpu%");
	pane__press(stage, "/");
	pane__type(stage, title);
	pane__press(stage, "Enter");
	pane__press(stage, "Enter");
	pane__await(stage, "hot_part");
	pane__press(stage, "Enter");
	pane__await(stage, "luaspy top: hot_part in ");
	pane__await(stage, "caller often");
	assert_non_null(strstr(pane__line(stage, 0), title));
	assert_in_range(1000 * read_call(stage, " hot_part  ").seconds, 1000 * seconds,
			1000 * seconds);
	pane__press(stage, "Escape");
	pane__await(stage, ">self%");
	assert_non_null(strstr(pane__line(stage, 0), title));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_callers_and_callees),
		staged(follows_a_caller_and_returns),
		staged(shows_calls_in_a_frozen_view),
		staged(calls_count_from_zero),
		staged(averages_over_spans),
		staged(hides_the_garbage_collector),
		staged(takes_its_first_view_from_options),
		staged(marks_hides_and_writes_plugins),
		staged(shows_calls_in_the_process_of_the_row),
	};

	return cmocka_run_group_tests_name("top: calls", tests, NULL, NULL);
}
