/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples come at the frequency that was asked for, however low it is or however rarely the target
 * runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60

#define READY "print('ready') io.stdout:flush() io.read()\n"

/* Samples per second of CPU time over a script's whole life. A busy machine loses some. */
static double samples_a_second(struct stage *stage, const char *frequency, const char *script)
{
	struct scriptprofile *profile;
	struct child *target, *spy;
	double samples, seconds;

	write_text(stage, "script.lua", script);
	target = start(stage, built_program("host-5.4"), "script.lua");
	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "-o", "profile.json", "-F", frequency);
	spying__await_timers(stage, spy);
	child__tell(target, "go");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	samples = (double)scriptprofile__samples(profile, "total");
	seconds = (double)profile->all_us / 1e6;
	print_message("%.0f samples in %.3f s\n", samples, seconds);
	return samples / seconds;
}

static void are_as_rare_as_was_asked_for(void **state)
{
	double rate;

	need_to_record();
	rate = samples_a_second(*state, "10",
				READY "local stop = cpu_us() + 4e6\n"
				      "while cpu_us() < stop do for i = 1, 1e5 do end end\n");
	assert_true(rate > 6 && rate < 13);
}

/* The target runs for less than a period between two changes of the period. */
static void are_taken_of_a_target_that_runs_rarely(void **state)
{
	double rate;

	need_to_record();
	rate = samples_a_second(*state, "250",
				READY "for i = 1, 60 do\n"
				      "	local stop = cpu_us() + 1000\n"
				      "	while cpu_us() < stop do for i = 1, 1e3 do end end\n"
				      "	sleep_us(80000)\n"
				      "end\n");
	assert_true(rate > 100 && rate < 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(are_as_rare_as_was_asked_for),
		staged(are_taken_of_a_target_that_runs_rarely),
	};

	return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
