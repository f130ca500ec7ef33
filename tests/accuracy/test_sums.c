/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The categories add up to the CPU time that the kernel charged the target, all its threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "watched.h"

/*
 * `least_sampled`: the share of the time that samples cover, which is not "(unsampled)". `more`:
 * the share that the kernel may have lost.
 */
static void check_sum(const struct watched *watched, double least_sampled, double more)
{
	double all_us = (double)watched->profile->all_us;
	double unsampled_us = (double)scriptprofile__recorded(watched->profile, "Unsampled");
	double recorded_us = (double)scriptprofile__recorded(watched->profile, "CpuDuration");
	double difference = all_us / watched->cpu_us - 1;

	print_message("charged %.0f us, categories %.0f us (%+.3f%%), unsampled %.0f us\n",
		      watched->cpu_us, all_us, 100 * difference, unsampled_us);
	assert_true(watched->cpu_us > 500000);
	/* What no sample covers is filled in, so only time that is counted twice shows here. */
	assert_true(difference >= -0.0001 && difference <= 0.0001 + more);
	assert_true(fabs(recorded_us / watched->cpu_us - 1) <= 0.01);
	assert_true(unsampled_us <= (1 - least_sampled) * all_us);
}

/* The node of a category; 0: there is none. */
static int category_node(const struct scriptprofile *profile, const char *name)
{
	const json_t *categories = json_object_get(profile->document, "Categories");

	for (size_t i = 0; i < json_array_size(categories); i++) {
		const json_t *category = json_array_get(categories, i);

		if (!strcmp(json_string_value(json_object_get(category, "Name")), name))
			return (int)json_integer_value(json_object_get(category, "NodeId"));
	}
	return 0;
}

/* Time of a category in which there was no script. */
static double host_us(const struct scriptprofile *profile, int category)
{
	double us = 0;

	for (int id = 1; id <= profile->node_count; id++)
		if (profile->node_parent[id] == category &&
		    !strcmp(profile->functions[profile->node_function[id]].name, "(host)"))
			us += (double)profile->node_total_us[id];
	return us;
}

static void adds_up_for_a_busy_loop(struct stage *stage, const char *frequency)
{
	struct watched watched = watch(stage, frequency, "SPLIT ", "lua5.4",
				       program_source("split.lua"), "3000", "100");

	check_sum(&watched, 0.99, 0);
}

static void adds_up_for_a_server(struct stage *stage, const char *frequency)
{
	struct watched watched = watch(stage, frequency, "SPLIT ", built_program("host-5.4"),
				       program_source("server.lua"), "0", "42", "18");

	check_sum(&watched, 0.99, 0);
}

/*
 * Returns the time of the brief threads in their four functions, which take the same time, one
 * after the other. If all threads first ticked at the same age, some would have far too much of it.
 */
static double parts_us(const struct scriptprofile *profile)
{
	static const char *const stacks[] = {
		"main chunk > first > brief",
		"main chunk > second > brief",
		"main chunk > third > brief",
		"main chunk > fourth > brief",
	};
	double us[4], all_us = 0;

	for (int i = 0; i < 4; i++)
		all_us += us[i] = (double)scriptprofile__stack_us(profile, stacks[i]);
	for (int i = 0; i < 4; i++)
		print_message("%s: %.1f%%\n", stacks[i], 100 * us[i] / all_us);
	for (int i = 0; i < 4; i++)
		assert_true(us[i] >= 0.14 * all_us && us[i] <= 0.37 * all_us);
	return all_us;
}

/* CPU time of a thread's exit that its process may lack. */
#define UNCHARGED_MS 0.02

/* How much of so brief threads a sample covers depends on the period, but the busy one has all. */
static void adds_up_for_threads(struct stage *stage, const char *frequency,
				const char *milliseconds, double least_sampled)
{
	struct watched watched =
		watch(stage, frequency, "done ", built_program("threads-5.4"), milliseconds);
	const struct scriptprofile *profile = watched.profile;
	int brief = category_node(profile, "brief"), busy = category_node(profile, "busy");
	double brief_us, busy_us;

	/*
	 * A thread's time becomes that of its process while the thread still exits, and as of the
	 * scheduler's last tick (__exit_signal() in kernel/exit.c, Linux 6.18): the rest, some
	 * microseconds of each, is in the profile alone. The busy thread has half of the time.
	 */
	check_sum(&watched, least_sampled, UNCHARGED_MS / (2 * strtod(milliseconds, NULL)));
	assert_int_equal(sscanf(strstr(watched.said, "done "), "done %lf %lf", &brief_us, &busy_us),
			 2);
	assert_int_not_equal(brief, 0);
	assert_int_not_equal(busy, 0);
	print_message("brief threads %.0f us, found %lld us; busy one %.0f us, found %lld us\n",
		      brief_us, (long long)profile->node_total_us[brief], busy_us,
		      (long long)profile->node_total_us[busy]);
	assert_true(fabs((double)profile->node_total_us[busy] / busy_us - 1) <= 0.01);
	assert_true(host_us(profile, busy) >= 0.99 * busy_us);
	/*
	 * Before a thread has its name, and after it has looked at its clock, it is charged, too.
	 */
	assert_true((double)profile->node_total_us[brief] >= 0.99 * brief_us);
	assert_true(parts_us(profile) > brief_us * least_sampled / 2);
}

/*
 * Any thread may execute a program. The kernel ends the others, and gives it the id of the first.
 */
static void adds_up_for_a_thread_that_executes_a_program(void **state)
{
	struct watched watched;

	need_to_record();
	write_text(*state, "main.lua",
		   "print('ready') io.stdout:flush() io.read() burn(2e5) in_thread('thread.lua')");
	write_text(*state, "thread.lua", "burn(6e5) become('lua5.4', 'after.lua')");
	write_text(*state, "after.lua",
		   LUA_SPIN "spin(0.4) print('done ') io.stdout:flush() io.read()");
	/* At 1 kHz, only some runs have a sample between the new id and the new program. */
	watched = watch(*state, "10khz", "done ", built_program("host-5.4"), "main.lua");
	assert_true(watched.cpu_us > 1100000);
	check_sum(&watched, 0.95, 0.005);
}

static void adds_up_for_a_busy_loop_at_1_khz(void **state)
{
	need_lua();
	adds_up_for_a_busy_loop(*state, "1khz");
}

static void adds_up_for_a_busy_loop_at_10_khz(void **state)
{
	need_lua();
	adds_up_for_a_busy_loop(*state, "10khz");
}

static void adds_up_for_a_server_at_1_khz(void **state)
{
	need_to_record();
	adds_up_for_a_server(*state, "1khz");
}

static void adds_up_for_a_server_at_10_khz(void **state)
{
	need_to_record();
	adds_up_for_a_server(*state, "10khz");
}

static void adds_up_for_threads_born_and_dying_at_1_khz(void **state)
{
	need_to_record();
	adds_up_for_threads(*state, "1khz", "3", 0.95);
}

/* Two periods of the timer: all have a sample, whose time is known exactly. */
static void adds_up_for_threads_of_two_milliseconds(void **state)
{
	need_to_record();
	adds_up_for_threads(*state, "1khz", "2", 0.95);
}

/* Half a period: about every other thread has a sample, at any place of the thread. */
static void adds_up_for_threads_shorter_than_a_period(void **state)
{
	need_to_record();
	adds_up_for_threads(*state, "1khz", "0.5", 0.5);
}

static void adds_up_for_threads_born_and_dying_at_10_khz(void **state)
{
	need_to_record();
	adds_up_for_threads(*state, "10khz", "3", 0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(adds_up_for_a_thread_that_executes_a_program),
		staged(adds_up_for_a_busy_loop_at_1_khz),
		staged(adds_up_for_a_busy_loop_at_10_khz),
		staged(adds_up_for_a_server_at_1_khz),
		staged(adds_up_for_a_server_at_10_khz),
		staged(adds_up_for_threads_born_and_dying_at_1_khz),
		staged(adds_up_for_threads_of_two_milliseconds),
		staged(adds_up_for_threads_shorter_than_a_period),
		staged(adds_up_for_threads_born_and_dying_at_10_khz),
	};

	return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
