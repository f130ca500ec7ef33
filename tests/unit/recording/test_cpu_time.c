/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "charges.h"

#define THREADS 5

static uint64_t charged(const struct charges *charges)
{
	uint64_t sum = 0;

	for (int i = 0; i < NODES; i++)
		sum += charges->nodes[i];
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
	struct charges *charges = *state;

	for (int i = 1; i <= 100; i++)
		sample_at(charges, i * PERIOD, 1);
	assert_int_equal(cpu_time__total_ns(charges->time), 0);
	sample_at(charges, 101 * PERIOD, 2);
	assert_int_equal(charges->nodes[1], 101 * PERIOD);
	assert_int_equal(charges->nodes[2], 0);
	assert_int_equal(cpu_time__total_ns(charges->time), 101 * PERIOD);
}

static void waits_for_the_value_to_move(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 7);
	for (int i = 0; i < 250; i++)
		sample_at(charges, 7, 1);
	assert_int_equal(cpu_time__total_ns(charges->time), 0);
	sample_at(charges, 7 + 200 * PERIOD, 2);
	assert_int_equal(charges->nodes[1], 200 * PERIOD);
}

static void shares_evenly_whatever_the_moves_were(void **state)
{
	struct charges *charges = *state;

	for (int i = 0; i < 100; i++)
		sample_at(charges, i < 90 ? PERIOD : 1000 * PERIOD + i, i % 4 ? 1 : 2);
	sample_at(charges, 2000 * PERIOD, 3);
	assert_int_equal(charges->nodes[1], 1500 * PERIOD);
	assert_int_equal(charges->nodes[2], 500 * PERIOD);
}

static void weighs_a_sample_by_its_period(void **state)
{
	struct charges *charges = *state;

	sample_with(charges, (struct ls_sample){.runtime_ns = 400, .period_ns = 100}, 1);
	sample_with(charges, (struct ls_sample){.runtime_ns = 800, .period_ns = 300}, 2);
	cpu_time__end_all(charges->time);
	assert_int_equal(charges->nodes[1], 200);
	assert_int_equal(charges->nodes[2], 600);
}

static void shares_years_without_overflow(void **state)
{
	struct charges *charges = *state;
	const uint64_t ns = 1ULL << 60;

	sample_with(charges, (struct ls_sample){.runtime_ns = ns, .period_ns = 1U << 31}, 1);
	sample_with(charges, (struct ls_sample){.runtime_ns = ns, .period_ns = 1U << 31}, 2);
	cpu_time__end_all(charges->time);
	assert_int_equal(charges->nodes[1], ns / 2);
	assert_int_equal(charges->nodes[2], ns / 2);
}

static void gives_what_lost_samples_weigh_to_unsampled(void **state)
{
	struct charges *charges = *state;

	sample_at(charges, PERIOD, 1);
	sample_with(charges, (struct ls_sample){.runtime_ns = 5 * PERIOD, .dropped_before = 3}, 2);
	end(charges, 1, 5 * PERIOD);
	assert_int_equal(charges->nodes[1], PERIOD);
	assert_int_equal(charges->nodes[2], PERIOD);
	assert_int_equal(charges->unsampled_ns, 3 * PERIOD);
	assert_string_equal(charges->unsampled_comm, "lua");
}

static void counts_lost_samples_towards_a_window(void **state)
{
	struct charges *charges = *state;

	sample_at(charges, PERIOD, 1);
	sample_with(charges, (struct ls_sample){.runtime_ns = 100 * PERIOD, .dropped_before = 99},
		    2);
	assert_int_equal(charges->nodes[1], PERIOD);
	assert_int_equal(charges->unsampled_ns, 99 * PERIOD);
}

static void caps_the_stretch_after_the_last_move(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 50 * PERIOD);
	sample_at(charges, 51 * PERIOD, 1);
	sample_at(charges, 52 * PERIOD, 1);
	sample_at(charges, 52 * PERIOD, 1);
	end(charges, 1, 100 * PERIOD);
	assert_int_equal(charges->nodes[1], 4 * PERIOD);
	assert_int_equal(charges->unsampled_ns, 46 * PERIOD);
}

static void charges_a_short_stretch_after_the_last_move(void **state)
{
	struct charges *charges = *state;

	sample_at(charges, PERIOD, 1);
	end(charges, 1, PERIOD + PERIOD / 2);
	assert_int_equal(charges->nodes[1], PERIOD + PERIOD / 2);
	assert_int_equal(charges->unsampled_ns, 0);
}

static void leaves_threads_without_samples_unsampled(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 10 * PERIOD);
	end(charges, 1, 12 * PERIOD);
	assert_int_equal(cpu_time__end(charges->time, 2, "worker", 5 * PERIOD), 0);
	assert_int_equal(charged(charges), 0);
	assert_int_equal(charges->unsampled_ns, 7 * PERIOD);
	assert_string_equal(charges->unsampled_comm, "worker");
}

static void counts_from_where_a_thread_began(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 1000 * PERIOD);
	sample_at(charges, 1003 * PERIOD, 1);
	cpu_time__end_all(charges->time);
	assert_int_equal(charges->nodes[1], 3 * PERIOD);
	assert_int_equal(cpu_time__total_ns(charges->time), 3 * PERIOD);
}

static void goes_by_the_latest_value_where_an_earlier_one_was_larger(void **state)
{
	struct charges *charges = *state;

	sample_at(charges, 4 * PERIOD, 1);
	sample_at(charges, 3 * PERIOD, 1);
	end(charges, 1, 2 * PERIOD);
	assert_int_equal(charges->nodes[1], 2 * PERIOD);
	assert_int_equal(charges->unsampled_ns, 0);
}

static void leaves_time_to_nobody_where_periods_are_zero(void **state)
{
	struct charges *charges = *state;
	struct ls_sample sample = {.tid = 1, .runtime_ns = 3 * PERIOD, .comm = "lua"};

	assert_int_equal(cpu_time__sample(charges->time, &sample, 1), 0);
	end(charges, 1, 4 * PERIOD);
	assert_int_equal(charged(charges), 0);
	assert_int_equal(charges->unsampled_ns, 4 * PERIOD);
}

static void frees_threads_that_never_ended(void **state)
{
	struct charges *charges = *state;

	begin(charges, 1, 0);
	sample_with(charges, (struct ls_sample){.tid = 2, .runtime_ns = PERIOD}, 1);
	cpu_time__free(NULL);
}

/* The values that the samples of a random thread carried. */
struct random_thread {
	uint64_t first_ns, value_ns;
	int is_alive;
};

static void step(struct charges *charges, struct random_thread *thread, uint32_t tid,
		 uint64_t *seed)
{
	struct ls_sample sample = {.tid = tid, .comm = "lua"};

	if (!thread->is_alive) {
		thread->first_ns = next_random(seed) % 2 ? next_random(seed) >> 8 : 0;
		thread->value_ns = thread->first_ns;
		thread->is_alive = 1;
		if (thread->first_ns)
			begin(charges, tid, thread->first_ns);
	}
	if (next_random(seed) % 3)
		thread->value_ns += next_random(seed) >> (20 + next_random(seed) % 44);
	sample.runtime_ns = thread->value_ns;
	sample.period_ns = next_random(seed) >> (32 + next_random(seed) % 32);
	if (next_random(seed) % 16 == 0)
		sample.dropped_before = next_random(seed) >> (32 + next_random(seed) % 32);
	assert_int_equal(cpu_time__sample(charges->time, &sample, next_random(seed) % NODES), 0);
}

static void adds_up_to_what_was_charged_for_any_sequence(void **state)
{
	struct charges *charges = *state;
	struct random_thread threads[THREADS] = {};
	uint64_t seed = 20240229, expected = 0;

	for (int i = 0; i < 100000; i++) {
		uint32_t which = next_random(&seed) % THREADS;
		struct random_thread *thread = &threads[which];

		step(charges, thread, which + 1, &seed);
		if (next_random(&seed) % 1000)
			continue;
		thread->value_ns += next_random(&seed) >> (20 + next_random(&seed) % 44);
		end(charges, which + 1, thread->value_ns);
		expected += thread->value_ns - thread->first_ns;
		thread->is_alive = 0;
	}
	for (int i = 0; i < THREADS; i++)
		if (threads[i].is_alive)
			expected += threads[i].value_ns - threads[i].first_ns;
	cpu_time__end_all(charges->time);
	assert_int_equal(charged(charges) + charges->unsampled_ns, expected);
	assert_int_equal(cpu_time__total_ns(charges->time), expected);
	assert_int_not_equal(charged(charges), 0);
}

/* Pieces of 10 and 190 us alternate; the counter advances at the end of each. */
static void favours_no_long_pieces_where_the_value_moves_at_their_ends(void **state)
{
	struct charges *charges = *state;
	const uint64_t short_ns = 10 * US, cycle_ns = 200 * US, ticks = 200000;
	uint64_t seed = 42;

	for (uint64_t tick = 0; tick < ticks; tick++) {
		uint64_t at = tick * PERIOD + next_random(&seed) % PERIOD;
		uint64_t cycle = at - at % cycle_ns;
		int is_short = at % cycle_ns < short_ns;

		sample_at(charges, is_short ? cycle : cycle + short_ns, is_short ? 1 : 2);
	}
	end(charges, 1, ticks * PERIOD);
	assert_int_equal(charged(charges) + charges->unsampled_ns, ticks * PERIOD);
	assert_in_range(charges->nodes[1] * 1000 / (ticks * PERIOD), 40, 60);
	assert_in_range(charges->nodes[2] * 1000 / (ticks * PERIOD), 940, 960);
}

/* The same, but every second tick is lost: what a tick weighs must not depend on whom it hit. */
static void favours_nobody_where_ticks_get_lost(void **state)
{
	struct charges *charges = *state;
	const uint64_t cycle_ns = 200 * US, ticks = 400000;
	uint64_t seed = 43;

	for (uint64_t tick = 0; tick < ticks; tick++) {
		uint64_t at = tick * PERIOD + next_random(&seed) % PERIOD;

		if (next_random(&seed) % 2)
			sample_at(charges, at - at % cycle_ns, at % cycle_ns < 60 * US ? 1 : 2);
	}
	end(charges, 1, ticks * PERIOD);
	assert_in_range(charges->nodes[1] * 1000 / (ticks * PERIOD), 290, 310);
	assert_in_range(charges->nodes[2] * 1000 / (ticks * PERIOD), 690, 710);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		charging(charges_nothing_before_a_hundred_samples),
		charging(waits_for_the_value_to_move),
		charging(shares_evenly_whatever_the_moves_were),
		charging(weighs_a_sample_by_its_period),
		charging(shares_years_without_overflow),
		charging(gives_what_lost_samples_weigh_to_unsampled),
		charging(counts_lost_samples_towards_a_window),
		charging(caps_the_stretch_after_the_last_move),
		charging(charges_a_short_stretch_after_the_last_move),
		charging(leaves_threads_without_samples_unsampled),
		charging(counts_from_where_a_thread_began),
		charging(goes_by_the_latest_value_where_an_earlier_one_was_larger),
		charging(leaves_time_to_nobody_where_periods_are_zero),
		charging(frees_threads_that_never_ended),
		charging(adds_up_to_what_was_charged_for_any_sequence),
		charging(favours_no_long_pieces_where_the_value_moves_at_their_ends),
		charging(favours_nobody_where_ticks_get_lost),
	};

	return cmocka_run_group_tests_name("cpu_time", tests, NULL, NULL);
}
