/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy's own cost: measured, reported, and limited to --max-overhead by sampling less often. */
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

#include "budgets.h"

#define PATIENCE       60
#define SETTLE_SECONDS 1 /* timers have another period soon after the message */

/*
 * Waits for the timers of the target: before them, luaspy uses one briefly to measure the cost of a
 * tick.
 */
static void await_timers(struct stage *stage, const struct child *spy)
{
	child__await_errors(stage, spy, "a tick of a timer takes");
	spying__await_timers(stage, spy);
}

/* A busy machine takes half a minute to return from 125 Hz to 1 kHz, and longer from 62.5 Hz. */
static void await_message(struct stage *stage, const struct child *spy, const char *text)
{
	double end = now_seconds() + 3 * PATIENCE;

	while (!strstr(child__errors(stage, spy), text)) {
		if (now_seconds() > end)
			fail_msg("no '%s': %s", text, child__errors(stage, spy));
		sleep_seconds(0.25);
	}
}

/* Returns the number of events that report a frequency, and the text of the last. */
static int count_changes(const struct scriptprofile *profile, const char **last)
{
	const json_t *event, *events = json_object_get(budgets__recorder(profile), "Events");
	int count = 0;
	size_t i;

	json_array_foreach(events, i, event)
	{
		const char *kind = json_string_value(json_object_get(event, "Kind"));

		if (strcmp(kind, "frequency") != 0)
			continue;
		count++;
		*last = json_string_value(json_object_get(event, "Text"));
		print_message("at %.3f s: %s\n",
			      (double)json_integer_value(json_object_get(event, "TimeUs")) / 1e6,
			      *last);
	}
	return count;
}

static void adds_up(const struct scriptprofile *profile)
{
	print_message("interrupts %lld, BPF %lld, luaspy %lld us of %lld us of CPU time\n",
		      (long long)budgets__overhead(profile, "Interrupts"),
		      (long long)budgets__overhead(profile, "Bpf"),
		      (long long)budgets__overhead(profile, "Luaspy"),
		      (long long)scriptprofile__recorded(profile, "CpuDuration"));
	assert_true(budgets__overhead(profile, "Interrupts") > 0);
	assert_true(budgets__overhead(profile, "Bpf") > 0);
	assert_true(budgets__overhead(profile, "Luaspy") > 0);
	assert_int_equal(budgets__overhead(profile, "Total"),
			 budgets__overhead(profile, "Interrupts") +
				 budgets__overhead(profile, "Bpf") +
				 budgets__overhead(profile, "Luaspy"));
}

/* The samples in functions of that name: their number and their time. */
static double hertz(const struct scriptprofile *profile, const char *name)
{
	const json_t *function, *line, *functions = json_object_get(profile->document, "Functions");
	int64_t us = 0, samples = 0;
	size_t i, j;

	json_array_foreach(functions, i, function)
	{
		const char *found = json_string_value(json_object_get(function, "Name"));

		if (!found || strcmp(found, name) != 0)
			continue;
		json_array_foreach(json_object_get(function, "Lines"), j, line)
		{
			us += json_integer_value(json_array_get(line, 1));
			samples += json_integer_value(json_array_get(line, 2));
		}
	}
	print_message("'%s': %lld samples in %.3f s\n", name, (long long)samples, (double)us / 1e6);
	/*
	 * Each function takes two seconds; at the fewest samples, 200, other machines may cost a
	 * tenth.
	 */
	assert_in_range(us, 1700000, 2300000);
	return 1e6 * (double)samples / (double)us;
}

static void samples_at_full_frequency_within_the_limit(void **state)
{
	struct scriptprofile *profile;
	const char *last;

	need_lua();
	profile = record(*state, start_busy(*state)->pid, "--max-overhead=100%",
			 "--until-samples=2000");
	adds_up(profile);
	assert_int_equal(budgets__overhead(profile, "MaxPpm"), 1000000);
	assert_int_equal(count_changes(profile, &last), 0);
}

static void is_neither_limited_nor_reported_by_default(void **state)
{
	struct scriptprofile *profile;

	need_lua();
	profile = record(*state, start_busy(*state)->pid, "--until-samples=200");
	assert_null(json_object_get(budgets__recorder(profile), "Overhead"));
}

/* One of two functions takes three quarters of the work, however rarely it is sampled. */
static void keeps_the_time_right_at_a_low_frequency(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target, *spy;
	const char *last = "";
	double share, samples;
	int64_t most, less;

	need_lua();
	write_text(stage, "split.lua",
		   BUDGETS_READY "local function most(n) for i = 1, n do end end\n"
				 "local function less(n) for i = 1, n do end end\n"
				 "local spent = {0, 0}\n"
				 "while spent[1] + spent[2] < 6 do\n"
				 "	local at = spent[1] < 3 * spent[2] and 1 or 2\n"
				 "	local n, begin = math.random(1e5), os.clock()\n"
				 "	if at == 1 then most(n) else less(n) end\n"
				 "	spent[at] = spent[at] + os.clock() - begin\n"
				 "end\n");
	target = start(stage, "lua5.4", "split.lua");
	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "-v", "-o", "low.json",
			   budgets__option(stage, budgets__shallow_ppm(stage) / 3));
	await_timers(stage, spy);
	child__tell(target, "go");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "low.json"));
	adds_up(profile);
	assert_true(count_changes(profile, &last) >= 1);
	samples = (double)scriptprofile__samples(profile, "total");
	most = scriptprofile__self_us(profile, NULL, "most", -1);
	less = scriptprofile__self_us(profile, NULL, "less", -1);
	share = (double)most / (double)(most + less);
	print_message("%.0f samples in %.3f s, %s: %.1f%% of 75\n", samples,
		      (double)profile->all_us / 1e6, last, 100 * share);
	assert_true((double)profile->all_us / 1e6 > 5.9);
	assert_true(samples < 350 * (double)profile->all_us / 1e6);
	assert_true(budgets__overhead(profile, "LowestFrequency") <= 250);
	/* 3.9 standard deviations: 99.99%. */
	assert_true((share - 0.75) * (share - 0.75) < 3.9 * 3.9 * 0.75 * 0.25 / samples);
}

/* `script` runs phases.lua once it is told to. */
static void check_phases(struct stage *stage, const char *script, const char *option)
{
	/* A tick takes 2 us of an idle machine and 12 of a busy one, which it may become meanwhile.
	 */
	uint32_t shallow_ppm = budgets__shallow_ppm(stage);
	const char *limit = budgets__option(stage, 4 * (shallow_ppm > 12000 ? shallow_ppm : 12000));
	const char *last = "";
	struct scriptprofile *profile;
	struct child *target, *spy;
	double low, high;
	int changes;

	write_text(stage, "phases.lua", BUDGETS_PHASES);
	write_text(stage, "main.lua", script);
	target = start(stage, built_program("host-5.4"), "main.lua");
	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "-v", "-o", "phases.json", "--max-depth=4096", limit,
			   option);
	await_timers(stage, spy);
	child__tell(target, "go");
	await_message(stage, spy, "more would cost over");
	sleep_seconds(SETTLE_SECONDS);
	write_text(stage, "lowered", "");
	await_message(stage, spy, "again, as requested");
	sleep_seconds(SETTLE_SECONDS);
	write_text(stage, "raised", "");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "phases.json"));
	adds_up(profile);
	changes = count_changes(profile, &last);
	low = hertz(profile, "low");
	high = hertz(profile, "high");
	print_message("%.0f Hz where samples were dear, %.0f Hz where they were not\n", low, high);
	assert_true(low < 0.65 * high);
	assert_true(changes >= 2);
	assert_string_equal(last, "1,000 Hz");
	assert_true(budgets__overhead(profile, "LoweredDuration") > 3000000);
}

static void raises_the_frequency_when_samples_are_cheap(void **state)
{
	need_to_record();
	check_phases(*state, BUDGETS_READY "dofile('phases.lua')", NULL);
}

static void changes_timers_that_a_thread_inherited(void **state)
{
	need_to_record();
	check_phases(*state, BUDGETS_READY "in_thread('phases.lua')", NULL);
}

static void changes_timers_that_a_process_inherited(void **state)
{
	need_to_record();
	check_phases(*state,
		     BUDGETS_READY "if fork() == 0 then dofile('phases.lua') os.exit(0) end\n"
				   "join()",
		     "--children");
}

/* A copy of the interpreter under a name that no other process has. */
static struct scriptprofile *record_system(struct stage *stage, const char *option)
{
	char name[32], command[64];
	struct child *target, *spy;

	snprintf(name, sizeof(name), "bud%d", getpid());
	snprintf(command, sizeof(command), "ln -sf \"$(command -v lua5.4)\" %s", name);
	assert_int_equal(child__wait(start(stage, "sh", "-c", command), PATIENCE), 0);
	write_text(stage, "busy.lua", "while true do for i = 1, 1e4 do end end");
	target = start(stage, in_folder(stage, name), "busy.lua");
	spy = start(stage, luaspy_program(), "record", "--system", "--name", name, "-o",
		    "system.json", "--until-samples=200", option);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	child__kill(target);
	return spying__read(stage, in_folder(stage, "system.json"));
}

static void limits_a_system_session_to_one_percent(void **state)
{
	need_lua();
	assert_int_equal(budgets__overhead(record_system(*state, NULL), "MaxPpm"), 10000);
	assert_null(json_object_get(budgets__recorder(record_system(*state, "--max-overhead=none")),
				    "Overhead"));
}

/* Each file has the costs of its own interval and the frequency at which that begins. */
static void is_reported_in_each_file_of_a_session(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *busy, *spy;
	const char *last = "";
	int64_t wall_us;
	glob_t found;

	need_lua();
	busy = start_busy(stage);
	spy = start_record(stage, busy->pid, "-o", "part.json", "--interval=1s",
			   "--max-overhead=0.05%");
	child__await_errors(stage, spy, "--max-overhead");
	sleep_seconds(2.5);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_int_equal(glob(in_folder(stage, "part*.json"), 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	profile = spying__read(stage, found.gl_pathv[1]);
	globfree(&found);
	adds_up(profile);
	wall_us = scriptprofile__recorded(profile, "WallDuration");
	assert_true(count_changes(profile, &last) >= 1);
	assert_int_equal(budgets__overhead(profile, "LoweredDuration"), wall_us);
	/* These are the costs of about ten samples, and of one second of a session of three. */
	assert_true(budgets__overhead(profile, "Interrupts") < wall_us / 200);
	assert_true(budgets__overhead(profile, "Luaspy") < wall_us / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(samples_at_full_frequency_within_the_limit),
		staged(is_neither_limited_nor_reported_by_default),
		staged(keeps_the_time_right_at_a_low_frequency),
		staged(raises_the_frequency_when_samples_are_cheap),
		staged(changes_timers_that_a_thread_inherited),
		staged(changes_timers_that_a_process_inherited),
		staged(limits_a_system_session_to_one_percent),
		staged(is_reported_in_each_file_of_a_session),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
