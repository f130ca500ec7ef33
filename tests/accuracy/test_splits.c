/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scripts that measure themselves how they split their time: luaspy has to come to the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "split.h"

static void split_70_30(struct stage *stage, const char *frequency, const char *chunk_us)
{
	struct watched watched = watch(stage, frequency, "SPLIT ", "lua5.4",
				       program_source("split.lua"), chunk_us, "70", "30");

	split__check(&watched, 0);
}

static void split_50_30_15_5(struct stage *stage, const char *frequency, const char *chunk_us)
{
	struct watched watched =
		watch(stage, frequency, "SPLIT ", "lua5.4", program_source("split.lua"), chunk_us,
		      "50", "30", "15", "5");

	split__check(&watched, 0);
}

static void finds_70_30_at_1_khz(void **state)
{
	need_lua();
	split_70_30(*state, "1khz", "3000");
}

static void finds_70_30_at_10_khz(void **state)
{
	need_lua();
	split_70_30(*state, "10khz", "3000");
}

static void finds_50_30_15_5_at_1_khz(void **state)
{
	need_lua();
	split_50_30_15_5(*state, "1khz", "3000");
}

static void finds_50_30_15_5_at_10_khz(void **state)
{
	need_lua();
	split_50_30_15_5(*state, "10khz", "3000");
}

/* Pieces shorter than a period, and a script that reads its clock in between. */
static void finds_70_30_of_short_pieces(void **state)
{
	need_lua();
	split_70_30(*state, "10khz", "60");
}

static void finds_50_30_15_5_of_short_pieces(void **state)
{
	need_lua();
	split_50_30_15_5(*state, "10khz", "60");
}

/* A script that reads its clock is charged then, which must not favour long pieces. */
static void finds_short_pieces_between_long_ones(void **state)
{
	struct watched watched;

	need_lua();
	watched = watch(*state, "10khz", "SPLIT ", "lua5.4", program_source("split.lua"), "0", "95",
			"5");
	split__check(&watched, 0);
}

/*
 * A server sleeps all the time, and each time its timer starts anew: neither may the beginning of
 * its work count more than the end, nor long pieces of work more than short ones. Of 8 pieces it
 * measures one, of thousands: 0.5% is more than the mean of those can be off.
 */
#define MEASURED_SLACK 0.005

/*
 * Where interrupts come late, as on virtual machines, the kernel cannot tell the end of a piece of
 * work from the beginning of the next: a timer that was due less than the delay before a thread is
 * switched away is found overdue, and armed anew for 10 us after the thread is switched back
 * (kernel/events/core.c, perf_swevent_start_hrtimer). So the way to sleep lends its samples to what
 * runs 10 us and the delay after waking. With a delay of 8 to 14 us, where this was measured, those
 * are 11% of all samples of a thread that sleeps every 60 us, and 4 to 7 points of a split at that
 * place; `perf record -e task-clock` has the same. This bound says how much of that is known.
 */
#define WAKING_SLACK 0.08

/* The same where half of the work is in pieces of 600 us: 1 to 1.5 points were measured. */
#define SELDOM_WAKING_SLACK 0.02

static void finds_the_split_within_the_work_of_a_server_at_1_khz(void **state)
{
	struct watched watched;

	need_to_record();
	watched = watch(*state, "1khz", "SPLIT ", built_program("host-5.4"),
			program_source("server.lua"), "42", "18");
	split__check(&watched, MEASURED_SLACK + WAKING_SLACK);
}

static void finds_the_split_within_the_work_of_a_server_at_10_khz(void **state)
{
	struct watched watched;

	need_to_record();
	watched = watch(*state, "10khz", "SPLIT ", built_program("host-5.4"),
			program_source("server.lua"), "42", "18");
	split__check(&watched, MEASURED_SLACK + WAKING_SLACK);
}

static void finds_the_split_between_short_and_long_work_of_a_server_at_1_khz(void **state)
{
	struct watched watched;

	need_to_record();
	watched = watch(*state, "1khz", "SPLIT ", built_program("host-5.4"),
			program_source("server.lua"), "30", "30", "600");
	split__check(&watched, MEASURED_SLACK + SELDOM_WAKING_SLACK);
}

static void finds_the_split_between_short_and_long_work_of_a_server_at_10_khz(void **state)
{
	struct watched watched;

	need_to_record();
	watched = watch(*state, "10khz", "SPLIT ", built_program("host-5.4"),
			program_source("server.lua"), "30", "30", "600");
	split__check(&watched, MEASURED_SLACK + SELDOM_WAKING_SLACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(finds_70_30_at_1_khz),
		staged(finds_70_30_at_10_khz),
		staged(finds_50_30_15_5_at_1_khz),
		staged(finds_50_30_15_5_at_10_khz),
		staged(finds_70_30_of_short_pieces),
		staged(finds_50_30_15_5_of_short_pieces),
		staged(finds_short_pieces_between_long_ones),
		staged(finds_the_split_within_the_work_of_a_server_at_1_khz),
		staged(finds_the_split_within_the_work_of_a_server_at_10_khz),
		staged(finds_the_split_between_short_and_long_work_of_a_server_at_1_khz),
		staged(finds_the_split_between_short_and_long_work_of_a_server_at_10_khz),
	};

	return cmocka_run_group_tests_name("splits", tests, NULL, NULL);
}
