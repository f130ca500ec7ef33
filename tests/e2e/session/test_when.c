/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a session begins, samples and ends: --start-after, --until-samples, -F. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "spying.h"

#define BUSY "while true do for i = 1, 1000 do local x = i * i end end"

static double session_seconds(const struct scriptprofile *profile)
{
	const json_t *start = json_object_get(profile->document, "SessionStartTime");
	const json_t *end = json_object_get(profile->document, "SessionEndTime");

	return (json_number_value(end) - json_number_value(start)) / 1000;
}

static void waits_before_it_samples(void **state)
{
	struct scriptprofile *profile;
	double began, cpu, before;
	struct child *target;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_lua(*state, BUSY);
	began = now_seconds();
	before = child__cpu_seconds(target);
	profile = record(*state, target->pid, "--start-after", "1s", "-d", "500ms", "-q");
	assert_true(now_seconds() - began >= 1.5);
	assert_true(session_seconds(profile) >= 0.49);
	assert_true(session_seconds(profile) < now_seconds() - began - 0.95);
	/* CPU time before sampling began is in no category. */
	cpu = child__cpu_seconds(target) - before;
	assert_in_range(profile->all_us, 1, (int64_t)(cpu * 1e6));
	assert_in_range(profile->all_us, 1, 1000000 * session_seconds(profile) + 50000);
	assert_in_range(scriptprofile__self_us(profile, NULL, "main chunk", -1),
			profile->all_us * 9 / 10, profile->all_us);
}

/* The CPU time of threads that end before sampling begins is not the session's. */
static void threads_that_end_before_sampling_are_not_counted(void **state)
{
	static const char script[] = "import threading, time\n"
				     "def work():\n"
				     "    end = time.thread_time() + 0.05\n"
				     "    while time.thread_time() < end: pass\n"
				     "print('ready', flush=True)\n"
				     "end = time.time() + 1.5\n"
				     "while time.time() < end:\n"
				     "    thread = threading.Thread(target=work)\n"
				     "    thread.start()\n"
				     "    thread.join()\n"
				     "while True: pass\n";
	struct child *target, *spy;
	struct scriptprofile *profile;

	need_to_record();
	need_program("python3", "python3");
	write_file(in_folder(*state, "threads.py"), script, strlen(script));
	target = start(*state, "python3", "threads.py");
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "--wait", "--start-after", "2s", "-d", "300ms",
			   "-o", "x.json", "-q");
	assert_int_equal(child__wait(spy, 20), 3); /* no script */
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_in_range(profile->all_us, 1, 1000000 * session_seconds(profile) + 50000);
}

static void a_command_runs_before_it_is_sampled(void **state)
{
	static const char script[] = "function early() while os.clock() < 0.05 do end end\n"
				     "function late() while os.clock() < 3 do end end\n"
				     "early() late()\n";
	struct scriptprofile *profile;
	struct child *spy;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	write_file(in_folder(*state, "phases.lua"), script, strlen(script));
	spy = start(*state, luaspy_program(), "record", "--start-after", "1800ms", "-q", "-o",
		    "x.json", "--", "lua5.4", "phases.lua");
	assert_int_equal(child__wait(spy, 30), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	print_message("%.3f s of 3 s CPU time, session of %.3f s\n", profile->all_us / 1e6,
		      session_seconds(profile));
	assert_in_range(profile->all_us, 1000000, 2900000);
	assert_int_equal(scriptprofile__total_us(profile, NULL, "early", -1), 0);
	assert_in_range(scriptprofile__total_us(profile, NULL, "late", -1),
			profile->all_us * 9 / 10, profile->all_us);
}

static void ctrl_c_before_the_start_leaves_nothing(void **state)
{
	struct child *target, *spy;
	int files;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_lua(*state, BUSY);
	files = count_files(((struct stage *)*state)->folder);
	spy = start_record(*state, target->pid, "--start-after", "30s", "-o", "x.json");
	/* luaspy prints this once it handles signals. */
	child__await_errors(*state, spy, "Lua 5.4");
	sleep_seconds(0.7);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, 5), 3);
	assert_non_null(strstr(child__errors(*state, spy), "not sampled yet (--start-after)"));
	/* The stage keeps luaspy's output and errors there. */
	assert_int_equal(count_files(((struct stage *)*state)->folder), files + 2);
}

static void waiting_ends_with_the_target(void **state)
{
	struct child *target, *spy;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_lua(*state, BUSY);
	spy = start_record(*state, target->pid, "--start-after", "30s", "-o", "x.json");
	/* luaspy prints this once it handles signals. */
	child__await_errors(*state, spy, "Lua 5.4");
	sleep_seconds(0.7);
	child__kill(target);
	assert_int_equal(child__wait(spy, 5), 3);
}

/*
 * The parent of the target may reap it, and the kernel then forgets its CPU time before luaspy
 * asks.
 */
static void the_cpu_time_of_a_reaped_target_is_known(void **state)
{
	static const char script[] = LUA_SPIN "print('ready') io.flush() io.read() spin(0.5)\n";
	struct scriptprofile *profile;
	struct child *target, *spy;

	need_lua();
	write_text(*state, "spin.lua", script);
	target = start(*state, "lua5.4", "spin.lua");
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "-o", "x.json");
	spying__await_timers(*state, spy);
	kill(spy->pid, SIGSTOP);
	child__await_state(*state, spy, 'T');
	child__tell(target, "go");
	assert_int_equal(child__wait(target, 20), 0);
	kill(spy->pid, SIGCONT);
	spying__finish(*state, spy);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_in_range(profile->all_us, 490000, 600000);
	assert_int_equal(scriptprofile__recorded(profile, "CpuDuration"), profile->all_us);
	assert_null(strstr(child__errors(*state, spy), ", 0 s of CPU time"));
}

static int64_t script_samples(const struct scriptprofile *profile)
{
	return scriptprofile__samples(profile, "complete") +
	       scriptprofile__samples(profile, "torn") +
	       scriptprofile__samples(profile, "truncated");
}

static void ends_after_enough_samples(void **state)
{
	struct scriptprofile *profile;
	struct child *target;
	double began;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_lua(*state, BUSY);
	began = now_seconds();
	profile = record(*state, target->pid, "--until-samples", "500", "-d", "15", "-q");
	assert_true(now_seconds() - began < 10);
	print_message("%lld samples\n", (long long)script_samples(profile));
	assert_in_range(script_samples(profile), 500, 1000);
}

static void ends_when_the_time_is_up_first(void **state)
{
	struct scriptprofile *profile;
	struct child *target;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_lua(*state, BUSY);
	profile = record(*state, target->pid, "--until-samples", "1000000", "-d", "300ms", "-q");
	assert_in_range(script_samples(profile), 1, 2000);
}

/* The timers' periods change all the time; a period that restarts too often would never end. */
static void ten_samples_a_second_are_ten(void **state)
{
	struct scriptprofile *profile;
	struct child *spy;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	spy = start(*state, luaspy_program(), "record", "-F", "10", "-q", "-o", "x.json", "--",
		    "lua5.4", "-e", "while os.clock() < 3 do end");
	assert_int_equal(child__wait(spy, 60), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	print_message("%lld samples of 3 s CPU time\n", (long long)script_samples(profile));
	/* A period is random, between 0.8 and 1.33 times the one asked for. */
	assert_in_range(script_samples(profile), 20, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(waits_before_it_samples),
		staged(threads_that_end_before_sampling_are_not_counted),
		staged(a_command_runs_before_it_is_sampled),
		staged(ctrl_c_before_the_start_leaves_nothing),
		staged(waiting_ends_with_the_target),
		staged(the_cpu_time_of_a_reaped_target_is_known),
		staged(ends_after_enough_samples),
		staged(ends_when_the_time_is_up_first),
		staged(ten_samples_a_second_are_ten),
	};

	return cmocka_run_group_tests_name("when", tests, NULL, NULL);
}
