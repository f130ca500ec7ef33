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
 * its work count more than the end, nor long pieces of work more than short ones. It knows its
 * split by the rounds of a loop, to which the calls of the parts add less than this share.
 */
#define CALL_SLACK 0.005

/*
 * What a server does first after each sleep, and what is in no split: 75 to 225 us.
 *
 * Where interrupts come late, as on virtual machines, the kernel cannot tell the end of a piece of
 * work from the beginning of the next: a timer that was due less than the delay before a thread is
 * switched away is found overdue, and armed anew for 10 us after the thread is switched back
 * (kernel/events/core.c, perf_swevent_start_hrtimer). So the way to sleep lends its samples to what
 * runs 10 us and the delay after waking; `perf record -e task-clock` has the same. How many depends
 * on the machine alone: they were 2 to 11 points of a split without this piece of work, where
 * interrupts came 7 us late and more.
 */
#define WAKING_US "150"

/* `long_us` may be NULL. */
static void split_of_a_server(struct stage *stage, const char *frequency, const char *first_us,
			      const char *second_us, const char *long_us)
{
	struct watched watched;

	need_to_record();
	watched = watch(stage, frequency, "SPLIT ", built_program("host-5.4"),
			program_source("server.lua"), WAKING_US, first_us, second_us, long_us);
	split__check(&watched, CALL_SLACK);
}

static void finds_the_split_within_the_work_of_a_server_at_1_khz(void **state)
{
	split_of_a_server(*state, "1khz", "42", "18", NULL);
}

static void finds_the_split_within_the_work_of_a_server_at_10_khz(void **state)
{
	split_of_a_server(*state, "10khz", "42", "18", NULL);
}

static void finds_the_split_between_short_and_long_work_of_a_server_at_1_khz(void **state)
{
	split_of_a_server(*state, "1khz", "30", "30", "600");
}

static void finds_the_split_between_short_and_long_work_of_a_server_at_10_khz(void **state)
{
	split_of_a_server(*state, "10khz", "30", "30", "600");
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
