/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that end, are paused, or are settled while they run. */
#include "charges.h"

/* The kernel lists it while it releases the memory of its process. */
static void counts_a_thread_once_that_is_listed_after_its_end(void **state)
{
	struct charges *charges = *state;

	sample_at(charges, 3 * PERIOD, 1);
	end(charges, 1, 4 * PERIOD);
	assert_true(cpu_time__has_settled(charges->time, 1, 5 * PERIOD));
	settle(charges, 1, 5 * PERIOD);
	assert_int_equal(cpu_time__pause(charges->time, 1, "lua", 5 * PERIOD), 0);
	assert_int_equal(cpu_time__resume(charges->time, 1, "lua", 5 * PERIOD), 0);
	cpu_time__end_all(charges->time);
	assert_int_equal(cpu_time__total_ns(charges->time), 4 * PERIOD);
}

/* Records that say that they are gone may be lost, for months. */
static void remembers_some_thousands_that_ended(void **state)
{
	struct charges *charges = *state;

	for (uint32_t tid = 1; tid <= 100000; tid++)
		end(charges, tid, PERIOD);
	assert_true(cpu_time__has_settled(charges->time, 100000, PERIOD));
	assert_true(cpu_time__has_settled(charges->time, 99000, PERIOD));
	assert_false(cpu_time__has_settled(charges->time, 90000, PERIOD));
	begin(charges, 1, 0);
	cpu_time__end_all(charges->time);
	assert_int_equal(cpu_time__total_ns(charges->time), 100000 * PERIOD);
}

static void counts_the_next_thread_with_its_id(void **state)
{
	struct charges *charges = *state;

	end(charges, 1, 4 * PERIOD);
	end(charges, 1, PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 5 * PERIOD);
	sample_at(charges, 2 * PERIOD, 1);
	end(charges, 1, 2 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 7 * PERIOD);
	cpu_time__gone(charges->time, 1);
	settle(charges, 1, 3 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 10 * PERIOD);
	cpu_time__gone(charges->time, 1);
	assert_false(cpu_time__has_settled(charges->time, 1, 4 * PERIOD));
	settle(charges, 1, 4 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 11 * PERIOD);
}

static void knows_nothing_of_a_thread_that_ended(void **state)
{
	struct charges *charges = *state;

	sample_at(charges, 4 * PERIOD, 1);
	end(charges, 1, 4 * PERIOD);
	sample_at(charges, 2 * PERIOD, 2);
	cpu_time__end_all(charges->time);
	cpu_time__end_all(charges->time);
	assert_int_equal(charges->nodes[1], 4 * PERIOD);
	assert_int_equal(charges->nodes[2], 2 * PERIOD);
}

static void pause_thread(struct charges *charges, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__pause(charges->time, tid, "lua", runtime_ns), 0);
}

static void resume_thread(struct charges *charges, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__resume(charges->time, tid, "lua", runtime_ns), 1);
}

/* Its program is another then, and it has the id of the first thread, which has ended. */
static void counts_a_thread_once_that_executes_a_program(void **state)
{
	struct charges *charges = *state;

	begin(charges, FIRST, 10 * PERIOD);
	begin(charges, 2, 0);
	end(charges, FIRST, 12 * PERIOD);
	cpu_time__gone(charges->time, FIRST);
	settle(charges, 2, 3 * PERIOD);
	settle(charges, FIRST, 4 * PERIOD);
	begin(charges, FIRST, 4 * PERIOD);
	cpu_time__exec(charges->time);
	settle(charges, FIRST, 5 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 7 * PERIOD);
	cpu_time__exec(charges->time);
	end(charges, FIRST, 6 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 8 * PERIOD);
	cpu_time__exec(charges->time);
}

/* It has its new id before the program is loaded, which takes a millisecond. */
static void counts_a_thread_once_that_is_sampled_as_it_executes_a_program(void **state)
{
	struct charges *charges = *state;

	begin(charges, 2, 0);
	end(charges, FIRST, 2 * PERIOD);
	settle(charges, 2, 3 * PERIOD);
	sample_with(charges, (struct ls_sample){.tid = FIRST, .runtime_ns = 4 * PERIOD}, 1);
	cpu_time__exec(charges->time);
	settle(charges, FIRST, 5 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 7 * PERIOD);
	assert_int_equal(charges->nodes[1], 2 * PERIOD);
}

static void charges_nobody_for_a_pause(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 10 * PERIOD);
	sample_at(charges, 12 * PERIOD, 1);
	pause_thread(charges, 1, 13 * PERIOD);
	resume_thread(charges, 1, 1000 * PERIOD);
	assert_int_equal(cpu_time__resume(charges->time, 1, "lua", 2000 * PERIOD), 0);
	sample_at(charges, 1002 * PERIOD, 2);
	end(charges, 1, 1002 * PERIOD);
	/* Two samples share one window of five periods. */
	assert_int_equal(charges->nodes[1], 5 * PERIOD / 2);
	assert_int_equal(charges->nodes[2], 5 * PERIOD / 2);
	assert_int_equal(charges->unsampled_ns, 0);
}

static void ends_a_paused_thread_where_it_was_paused(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 10 * PERIOD);
	sample_at(charges, 12 * PERIOD, 1);
	pause_thread(charges, 1, 13 * PERIOD);
	pause_thread(charges, 1, 50 * PERIOD);
	cpu_time__end_known(charges->time, 1, 90 * PERIOD);
	cpu_time__end_known(charges->time, 2, 90 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 3 * PERIOD);
	begin(charges, 3, 10 * PERIOD);
	pause_thread(charges, 3, 11 * PERIOD);
	cpu_time__end_all(charges->time);
	assert_int_equal(cpu_time__total_ns(charges->time), 4 * PERIOD);
}

static void tells_a_thread_that_has_the_number_of_one_that_ended_unseen(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 10 * PERIOD);
	pause_thread(charges, 1, 13 * PERIOD);
	resume_thread(charges, 1, 2 * PERIOD);
	end(charges, 1, 4 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 5 * PERIOD);
}

static void hands_over_all_when_settled_and_goes_on(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 10 * PERIOD);
	sample_at(charges, 12 * PERIOD, 1);
	settle(charges, 1, 13 * PERIOD);
	assert_int_equal(charges->nodes[1], 3 * PERIOD);
	pause_thread(charges, 1, 14 * PERIOD);
	settle(charges, 1, 20 * PERIOD);
	cpu_time__settle_known(charges->time, 1, 20 * PERIOD);
	cpu_time__settle_known(charges->time, 2, 20 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 4 * PERIOD);
	resume_thread(charges, 1, 20 * PERIOD);
	sample_at(charges, 22 * PERIOD, 2);
	end(charges, 1, 22 * PERIOD);
	assert_int_equal(charges->nodes[2], 2 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 6 * PERIOD);
}

static void knows_when_there_is_nothing_to_hand_over(void **state)
{
	struct charges *charges = *state;

	assert_false(cpu_time__has_settled(charges->time, 1, 0));
	begin(charges, 1, 10 * PERIOD);
	assert_true(cpu_time__has_settled(charges->time, 1, 10 * PERIOD));
	assert_false(cpu_time__has_settled(charges->time, 1, 11 * PERIOD));
	sample_at(charges, 11 * PERIOD, 1);
	assert_false(cpu_time__has_settled(charges->time, 1, 10 * PERIOD));
	settle(charges, 1, 12 * PERIOD);
	assert_true(cpu_time__has_settled(charges->time, 1, 12 * PERIOD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		charging(counts_a_thread_once_that_is_listed_after_its_end),
		charging(remembers_some_thousands_that_ended),
		charging(counts_the_next_thread_with_its_id),
		charging(knows_nothing_of_a_thread_that_ended),
		charging(counts_a_thread_once_that_executes_a_program),
		charging(counts_a_thread_once_that_is_sampled_as_it_executes_a_program),
		charging(charges_nobody_for_a_pause),
		charging(ends_a_paused_thread_where_it_was_paused),
		charging(tells_a_thread_that_has_the_number_of_one_that_ended_unseen),
		charging(hands_over_all_when_settled_and_goes_on),
		charging(knows_when_there_is_nothing_to_hand_over),
	};

	return cmocka_run_group_tests_name("cpu_time_threads", tests, NULL, NULL);
}
