/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "recording/cpu_time.h"

#define US      1000ULL
#define PERIOD  (100 * US)
#define NODES   8
#define THREADS 5

struct fixture {
	struct cpu_time *time;
	uint64_t nodes[NODES];
	uint64_t unsampled_ns;
	char unsampled_comm[LS_COMM_LEN];
};

static void take_charge(void *context, uint32_t node, uint64_t ns)
{
	struct fixture *fixture = context;

	assert_in_range(node, 0, NODES - 1);
	fixture->nodes[node] += ns;
}

static void take_unsampled(void *context, const char *comm, uint64_t ns)
{
	struct fixture *fixture = context;

	fixture->unsampled_ns += ns;
	strncpy(fixture->unsampled_comm, comm, LS_COMM_LEN - 1);
}

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct cpu_time_receiver receiver = {fixture, take_charge, take_unsampled};

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->time = cpu_time__new(&receiver);
	return fixture->time ? 0 : -1;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	cpu_time__free(fixture->time);
	free(fixture);
	return 0;
}

static void sample_with(struct fixture *fixture, struct ls_sample sample, uint32_t node)
{
	sample.tid = sample.tid ? sample.tid : 1;
	sample.period_ns = sample.period_ns ? sample.period_ns : PERIOD;
	strcpy(sample.comm, "lua");
	assert_int_equal(cpu_time__sample(fixture->time, &sample, node), 0);
}

static void sample_at(struct fixture *fixture, uint64_t runtime_ns, uint32_t node)
{
	sample_with(fixture, (struct ls_sample){.runtime_ns = runtime_ns}, node);
}

static void begin(struct fixture *fixture, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__begin(fixture->time, tid, "lua", runtime_ns), 0);
}

static void end(struct fixture *fixture, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__end(fixture->time, tid, "lua", runtime_ns), 0);
}

static uint64_t charged(const struct fixture *fixture)
{
	uint64_t sum = 0;

	for (int i = 0; i < NODES; i++)
		sum += fixture->nodes[i];
	return sum;
}

/* xorshift64, which yields the same numbers everywhere, so that a failure is reproducible. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void charges_nothing_before_a_hundred_samples(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 1; i <= 100; i++)
		sample_at(fixture, i * PERIOD, 1);
	assert_int_equal(cpu_time__total_ns(fixture->time), 0);
	sample_at(fixture, 101 * PERIOD, 2);
	assert_int_equal(fixture->nodes[1], 101 * PERIOD);
	assert_int_equal(fixture->nodes[2], 0);
	assert_int_equal(cpu_time__total_ns(fixture->time), 101 * PERIOD);
}

static void waits_for_the_value_to_move(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 7);
	for (int i = 0; i < 250; i++)
		sample_at(fixture, 7, 1);
	assert_int_equal(cpu_time__total_ns(fixture->time), 0);
	sample_at(fixture, 7 + 200 * PERIOD, 2);
	assert_int_equal(fixture->nodes[1], 200 * PERIOD);
}

static void shares_evenly_whatever_the_moves_were(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 100; i++)
		sample_at(fixture, i < 90 ? PERIOD : 1000 * PERIOD + i, i % 4 ? 1 : 2);
	sample_at(fixture, 2000 * PERIOD, 3);
	assert_int_equal(fixture->nodes[1], 1500 * PERIOD);
	assert_int_equal(fixture->nodes[2], 500 * PERIOD);
}

static void weighs_a_sample_by_its_period(void **state)
{
	struct fixture *fixture = *state;

	sample_with(fixture, (struct ls_sample){.runtime_ns = 400, .period_ns = 100}, 1);
	sample_with(fixture, (struct ls_sample){.runtime_ns = 800, .period_ns = 300}, 2);
	cpu_time__end_all(fixture->time);
	assert_int_equal(fixture->nodes[1], 200);
	assert_int_equal(fixture->nodes[2], 600);
}

static void shares_years_without_overflow(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t ns = 1ULL << 60;

	sample_with(fixture, (struct ls_sample){.runtime_ns = ns, .period_ns = 1U << 31}, 1);
	sample_with(fixture, (struct ls_sample){.runtime_ns = ns, .period_ns = 1U << 31}, 2);
	cpu_time__end_all(fixture->time);
	assert_int_equal(fixture->nodes[1], ns / 2);
	assert_int_equal(fixture->nodes[2], ns / 2);
}

static void gives_what_lost_samples_weigh_to_unsampled(void **state)
{
	struct fixture *fixture = *state;

	sample_at(fixture, PERIOD, 1);
	sample_with(fixture, (struct ls_sample){.runtime_ns = 5 * PERIOD, .dropped_before = 3}, 2);
	end(fixture, 1, 5 * PERIOD);
	assert_int_equal(fixture->nodes[1], PERIOD);
	assert_int_equal(fixture->nodes[2], PERIOD);
	assert_int_equal(fixture->unsampled_ns, 3 * PERIOD);
	assert_string_equal(fixture->unsampled_comm, "lua");
}

static void counts_lost_samples_towards_a_window(void **state)
{
	struct fixture *fixture = *state;

	sample_at(fixture, PERIOD, 1);
	sample_with(fixture, (struct ls_sample){.runtime_ns = 100 * PERIOD, .dropped_before = 99},
		    2);
	assert_int_equal(fixture->nodes[1], PERIOD);
	assert_int_equal(fixture->unsampled_ns, 99 * PERIOD);
}

static void caps_the_stretch_after_the_last_move(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 50 * PERIOD);
	sample_at(fixture, 51 * PERIOD, 1);
	sample_at(fixture, 52 * PERIOD, 1);
	sample_at(fixture, 52 * PERIOD, 1);
	end(fixture, 1, 100 * PERIOD);
	assert_int_equal(fixture->nodes[1], 4 * PERIOD);
	assert_int_equal(fixture->unsampled_ns, 46 * PERIOD);
}

static void charges_a_short_stretch_after_the_last_move(void **state)
{
	struct fixture *fixture = *state;

	sample_at(fixture, PERIOD, 1);
	end(fixture, 1, PERIOD + PERIOD / 2);
	assert_int_equal(fixture->nodes[1], PERIOD + PERIOD / 2);
	assert_int_equal(fixture->unsampled_ns, 0);
}

static void leaves_threads_without_samples_unsampled(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 10 * PERIOD);
	end(fixture, 1, 12 * PERIOD);
	assert_int_equal(cpu_time__end(fixture->time, 2, "worker", 5 * PERIOD), 0);
	assert_int_equal(charged(fixture), 0);
	assert_int_equal(fixture->unsampled_ns, 7 * PERIOD);
	assert_string_equal(fixture->unsampled_comm, "worker");
}

static void counts_from_where_a_thread_began(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 1000 * PERIOD);
	sample_at(fixture, 1003 * PERIOD, 1);
	cpu_time__end_all(fixture->time);
	assert_int_equal(fixture->nodes[1], 3 * PERIOD);
	assert_int_equal(cpu_time__total_ns(fixture->time), 3 * PERIOD);
}

static void knows_nothing_of_a_thread_that_ended(void **state)
{
	struct fixture *fixture = *state;

	sample_at(fixture, 4 * PERIOD, 1);
	end(fixture, 1, 4 * PERIOD);
	sample_at(fixture, 2 * PERIOD, 2);
	cpu_time__end_all(fixture->time);
	cpu_time__end_all(fixture->time);
	assert_int_equal(fixture->nodes[1], 4 * PERIOD);
	assert_int_equal(fixture->nodes[2], 2 * PERIOD);
}

static void goes_by_the_latest_value_where_an_earlier_one_was_larger(void **state)
{
	struct fixture *fixture = *state;

	sample_at(fixture, 4 * PERIOD, 1);
	sample_at(fixture, 3 * PERIOD, 1);
	end(fixture, 1, 2 * PERIOD);
	assert_int_equal(fixture->nodes[1], 2 * PERIOD);
	assert_int_equal(fixture->unsampled_ns, 0);
}

static void leaves_time_to_nobody_where_periods_are_zero(void **state)
{
	struct fixture *fixture = *state;
	struct ls_sample sample = {.tid = 1, .runtime_ns = 3 * PERIOD, .comm = "lua"};

	assert_int_equal(cpu_time__sample(fixture->time, &sample, 1), 0);
	end(fixture, 1, 4 * PERIOD);
	assert_int_equal(charged(fixture), 0);
	assert_int_equal(fixture->unsampled_ns, 4 * PERIOD);
}

static void frees_threads_that_never_ended(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 0);
	sample_with(fixture, (struct ls_sample){.tid = 2, .runtime_ns = PERIOD}, 1);
	cpu_time__free(NULL);
}

/* The values that the samples of a random thread carried. */
struct random_thread {
	uint64_t first_ns, value_ns;
	int is_alive;
};

static void step(struct fixture *fixture, struct random_thread *thread, uint32_t tid,
		 uint64_t *seed)
{
	struct ls_sample sample = {.tid = tid, .comm = "lua"};

	if (!thread->is_alive) {
		thread->first_ns = next_random(seed) % 2 ? next_random(seed) >> 8 : 0;
		thread->value_ns = thread->first_ns;
		thread->is_alive = 1;
		if (thread->first_ns)
			begin(fixture, tid, thread->first_ns);
	}
	if (next_random(seed) % 3)
		thread->value_ns += next_random(seed) >> (20 + next_random(seed) % 44);
	sample.runtime_ns = thread->value_ns;
	sample.period_ns = next_random(seed) >> (32 + next_random(seed) % 32);
	if (next_random(seed) % 16 == 0)
		sample.dropped_before = next_random(seed) >> (32 + next_random(seed) % 32);
	assert_int_equal(cpu_time__sample(fixture->time, &sample, next_random(seed) % NODES), 0);
}

static void adds_up_to_what_was_charged_for_any_sequence(void **state)
{
	struct fixture *fixture = *state;
	struct random_thread threads[THREADS] = {};
	uint64_t seed = 20240229, expected = 0;

	for (int i = 0; i < 100000; i++) {
		uint32_t which = next_random(&seed) % THREADS;
		struct random_thread *thread = &threads[which];

		step(fixture, thread, which + 1, &seed);
		if (next_random(&seed) % 1000)
			continue;
		thread->value_ns += next_random(&seed) >> (20 + next_random(&seed) % 44);
		end(fixture, which + 1, thread->value_ns);
		expected += thread->value_ns - thread->first_ns;
		thread->is_alive = 0;
	}
	for (int i = 0; i < THREADS; i++)
		if (threads[i].is_alive)
			expected += threads[i].value_ns - threads[i].first_ns;
	cpu_time__end_all(fixture->time);
	assert_int_equal(charged(fixture) + fixture->unsampled_ns, expected);
	assert_int_equal(cpu_time__total_ns(fixture->time), expected);
	assert_int_not_equal(charged(fixture), 0);
}

/* Pieces of 10 and 190 us alternate; the counter advances at the end of each. */
static void favours_no_long_pieces_where_the_value_moves_at_their_ends(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t short_ns = 10 * US, cycle_ns = 200 * US, ticks = 200000;
	uint64_t seed = 42;

	for (uint64_t tick = 0; tick < ticks; tick++) {
		uint64_t at = tick * PERIOD + next_random(&seed) % PERIOD;
		uint64_t cycle = at - at % cycle_ns;
		int is_short = at % cycle_ns < short_ns;

		sample_at(fixture, is_short ? cycle : cycle + short_ns, is_short ? 1 : 2);
	}
	end(fixture, 1, ticks * PERIOD);
	assert_int_equal(charged(fixture) + fixture->unsampled_ns, ticks * PERIOD);
	assert_in_range(fixture->nodes[1] * 1000 / (ticks * PERIOD), 40, 60);
	assert_in_range(fixture->nodes[2] * 1000 / (ticks * PERIOD), 940, 960);
}

/* The same, but every second tick is lost: what a tick weighs must not depend on whom it hit. */
static void favours_nobody_where_ticks_get_lost(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t cycle_ns = 200 * US, ticks = 400000;
	uint64_t seed = 43;

	for (uint64_t tick = 0; tick < ticks; tick++) {
		uint64_t at = tick * PERIOD + next_random(&seed) % PERIOD;

		if (next_random(&seed) % 2)
			sample_at(fixture, at - at % cycle_ns, at % cycle_ns < 60 * US ? 1 : 2);
	}
	end(fixture, 1, ticks * PERIOD);
	assert_in_range(fixture->nodes[1] * 1000 / (ticks * PERIOD), 290, 310);
	assert_in_range(fixture->nodes[2] * 1000 / (ticks * PERIOD), 690, 710);
}

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

static void pause_thread(struct fixture *fixture, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__pause(fixture->time, tid, "lua", runtime_ns), 0);
}

static void resume_thread(struct fixture *fixture, uint32_t tid, uint64_t runtime_ns)
{
	assert_int_equal(cpu_time__resume(fixture->time, tid, "lua", runtime_ns), 1);
}

static void charges_nobody_for_a_pause(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 10 * PERIOD);
	sample_at(fixture, 12 * PERIOD, 1);
	pause_thread(fixture, 1, 13 * PERIOD);
	resume_thread(fixture, 1, 1000 * PERIOD);
	assert_int_equal(cpu_time__resume(fixture->time, 1, "lua", 2000 * PERIOD), 0);
	sample_at(fixture, 1002 * PERIOD, 2);
	end(fixture, 1, 1002 * PERIOD);
	/* Two samples share one window of five periods. */
	assert_int_equal(fixture->nodes[1], 5 * PERIOD / 2);
	assert_int_equal(fixture->nodes[2], 5 * PERIOD / 2);
	assert_int_equal(fixture->unsampled_ns, 0);
}

static void ends_a_paused_thread_where_it_was_paused(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 10 * PERIOD);
	sample_at(fixture, 12 * PERIOD, 1);
	pause_thread(fixture, 1, 13 * PERIOD);
	pause_thread(fixture, 1, 50 * PERIOD);
	cpu_time__end_known(fixture->time, 1, 90 * PERIOD);
	cpu_time__end_known(fixture->time, 2, 90 * PERIOD);
	assert_int_equal(cpu_time__total_ns(fixture->time), 3 * PERIOD);
	begin(fixture, 3, 10 * PERIOD);
	pause_thread(fixture, 3, 11 * PERIOD);
	cpu_time__end_all(fixture->time);
	assert_int_equal(cpu_time__total_ns(fixture->time), 4 * PERIOD);
}

static void tells_a_thread_that_has_the_number_of_one_that_ended_unseen(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 10 * PERIOD);
	pause_thread(fixture, 1, 13 * PERIOD);
	resume_thread(fixture, 1, 2 * PERIOD);
	end(fixture, 1, 4 * PERIOD);
	assert_int_equal(cpu_time__total_ns(fixture->time), 5 * PERIOD);
}

static void hands_over_all_when_settled_and_goes_on(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1, 10 * PERIOD);
	sample_at(fixture, 12 * PERIOD, 1);
	assert_int_equal(cpu_time__settle(fixture->time, 1, "lua", 13 * PERIOD), 0);
	assert_int_equal(fixture->nodes[1], 3 * PERIOD);
	pause_thread(fixture, 1, 14 * PERIOD);
	assert_int_equal(cpu_time__settle(fixture->time, 1, "lua", 20 * PERIOD), 0);
	cpu_time__settle_known(fixture->time, 1, 20 * PERIOD);
	cpu_time__settle_known(fixture->time, 2, 20 * PERIOD);
	assert_int_equal(cpu_time__total_ns(fixture->time), 4 * PERIOD);
	resume_thread(fixture, 1, 20 * PERIOD);
	sample_at(fixture, 22 * PERIOD, 2);
	end(fixture, 1, 22 * PERIOD);
	assert_int_equal(fixture->nodes[2], 2 * PERIOD);
	assert_int_equal(cpu_time__total_ns(fixture->time), 6 * PERIOD);
}

static void knows_when_there_is_nothing_to_hand_over(void **state)
{
	struct fixture *fixture = *state;

	assert_false(cpu_time__has_settled(fixture->time, 1, 0));
	begin(fixture, 1, 10 * PERIOD);
	assert_true(cpu_time__has_settled(fixture->time, 1, 10 * PERIOD));
	assert_false(cpu_time__has_settled(fixture->time, 1, 11 * PERIOD));
	sample_at(fixture, 11 * PERIOD, 1);
	assert_false(cpu_time__has_settled(fixture->time, 1, 10 * PERIOD));
	assert_int_equal(cpu_time__settle(fixture->time, 1, "lua", 12 * PERIOD), 0);
	assert_true(cpu_time__has_settled(fixture->time, 1, 12 * PERIOD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(charges_nothing_before_a_hundred_samples),
		fixed(waits_for_the_value_to_move),
		fixed(shares_evenly_whatever_the_moves_were),
		fixed(weighs_a_sample_by_its_period),
		fixed(shares_years_without_overflow),
		fixed(gives_what_lost_samples_weigh_to_unsampled),
		fixed(counts_lost_samples_towards_a_window),
		fixed(caps_the_stretch_after_the_last_move),
		fixed(charges_a_short_stretch_after_the_last_move),
		fixed(leaves_threads_without_samples_unsampled),
		fixed(counts_from_where_a_thread_began),
		fixed(knows_nothing_of_a_thread_that_ended),
		fixed(goes_by_the_latest_value_where_an_earlier_one_was_larger),
		fixed(leaves_time_to_nobody_where_periods_are_zero),
		fixed(frees_threads_that_never_ended),
		fixed(adds_up_to_what_was_charged_for_any_sequence),
		fixed(favours_no_long_pieces_where_the_value_moves_at_their_ends),
		fixed(favours_nobody_where_ticks_get_lost),
		fixed(charges_nobody_for_a_pause),
		fixed(ends_a_paused_thread_where_it_was_paused),
		fixed(tells_a_thread_that_has_the_number_of_one_that_ended_unseen),
		fixed(hands_over_all_when_settled_and_goes_on),
		fixed(knows_when_there_is_nothing_to_hand_over),
	};

	return cmocka_run_group_tests_name("cpu_time", tests, NULL, NULL);
}
