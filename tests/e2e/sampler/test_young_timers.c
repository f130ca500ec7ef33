/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timers of the processors cost whatever runs there, so they tick only while threads keep
 * ending that are too young for timers of their own. What they find is in accuracy/test_sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60

#define ON  "the timers of the processors sample threads that are young"
#define OFF "the timers of the processors no longer sample threads that are young"

static void are_on_while_young_threads_keep_ending(void **state)
{
	struct child *target, *spy;

	need_to_record();
	target = start(*state, built_program("threads-5.4"), "1");
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "-v", "-o", "profile.json");
	spying__await_timers(*state, spy);
	assert_false(child__has_complained(*state, spy, ON));
	child__tell(target, "go");
	child__await_errors(*state, spy, ON);
	child__await_output(*state, target, "done ");
	child__await_errors(*state, spy, OFF);
	child__tell(target, "end");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
}

static void are_off_for_a_thread_that_goes_on(void **state)
{
	struct child *target, *spy;

	need_to_record();
	write_text(*state, "script.lua", "print('ready') io.stdout:flush() while true do end");
	target = start(*state, built_program("host-5.4"), "script.lua");
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "-v", "-d", "1", "-o", "profile.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_false(child__has_complained(*state, spy, ON));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(are_on_while_young_threads_keep_ending),
		staged(are_off_for_a_thread_that_goes_on),
	};

	return cmocka_run_group_tests_name("young timers", tests, NULL, NULL);
}
