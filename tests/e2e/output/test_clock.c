/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time of day is set back during a session: no file may replace another, and durations stay
 * right.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE  60
#define ROOM      16
#define SECONDS   2.4
#define INTERVALS 8
#define AFTER_MS  "1200" /* about the fourth interval */
#define HOUR_MS   3600000.0

struct rolled {
	double start_ms, end_ms, wall_us;
};

static double number(const struct scriptprofile *profile, const char *key)
{
	return json_number_value(json_object_get(profile->document, key));
}

/* Reads all files, in the order of their names; returns their number. */
static size_t read_all(struct stage *stage, struct rolled *rolled)
{
	glob_t found;
	size_t count;

	assert_int_equal(glob(in_folder(stage, "x-*.json"), 0, NULL, &found), 0);
	count = found.gl_pathc;
	assert_in_range(count, 1, ROOM);
	for (size_t i = 0; i < count; i++) {
		struct scriptprofile *profile = spying__read(stage, found.gl_pathv[i]);

		rolled[i].start_ms = number(profile, "SessionStartTime");
		rolled[i].end_ms = number(profile, "SessionEndTime");
		rolled[i].wall_us = (double)scriptprofile__recorded(profile, "WallDuration");
		print_message("%s: %.3f s, %.3f s by the time of day\n",
			      strstr(found.gl_pathv[i], "/x-") + 1, rolled[i].wall_us / 1e6,
			      (rolled[i].end_ms - rolled[i].start_ms) / 1e3);
		assert_true(rolled[i].end_ms - rolled[i].start_ms >= rolled[i].wall_us / 1e3 - 2 &&
			    rolled[i].end_ms - rolled[i].start_ms <= rolled[i].wall_us / 1e3 + 2);
	}
	globfree(&found);
	return count;
}

static void record_set_back(struct stage *stage, const char *seconds, const char *keep)
{
	struct child *busy = start_busy(stage), *spy;
	char preloaded[4200], by[32], pid[16];

	snprintf(preloaded, sizeof(preloaded), "LD_PRELOAD=%s", built_program("set_back.so"));
	snprintf(by, sizeof(by), "SET_BACK_BY=%s", seconds);
	snprintf(pid, sizeof(pid), "%d", busy->pid);
	spy = start(stage, "env", preloaded, by, "SET_BACK_AFTER=" AFTER_MS, luaspy_program(),
		    "record", "-p", pid, "--interval", "300ms", "-d", "2400ms", "--keep", keep,
		    "-o", "x.json");
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("%s", child__errors(stage, spy));
	assert_null(strstr(child__errors(stage, spy), "ERROR: ld.so"));
}

/* Files of the repeated seconds have the same names, with a number appended. */
static void keeps_every_file_when_seconds_come_twice(void **state)
{
	struct rolled rolled[ROOM];
	double sum_us = 0;
	size_t count;

	need_lua();
	record_set_back(*state, "1", "16");
	count = read_all(*state, rolled);
	for (size_t i = 0; i < count; i++)
		sum_us += rolled[i].wall_us;
	print_message("%zu files of %.3f s\n", count, sum_us / 1e6);
	assert_int_equal(count, INTERVALS);
	assert_true(sum_us >= 1e6 * SECONDS && sum_us < 1.1e6 * SECONDS);
}

/* By name, they come first. */
static void keeps_the_files_that_were_written_last(void **state)
{
	double now_ms = 1e3 * (double)time(NULL);
	struct rolled rolled[ROOM];
	size_t count;

	need_lua();
	record_set_back(*state, "3600", "2");
	count = read_all(*state, rolled);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++) {
		assert_true(rolled[i].start_ms > now_ms - HOUR_MS - 60000);
		assert_true(rolled[i].start_ms < now_ms - HOUR_MS + 60000);
		assert_in_range((uint64_t)rolled[i].wall_us, 250000, 450000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(keeps_every_file_when_seconds_come_twice),
		staged(keeps_the_files_that_were_written_last),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
