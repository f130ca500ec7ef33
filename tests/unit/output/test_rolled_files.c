/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "captured.h"
#include "output/rolled_files.h"
#include "stage.h"

#define NOON 1000000000

/* Their names without the dates. */
static char dateless[128];

/* Writes the next file of the interval, of that size, and has it noted. Its path is good until the
 * next. */
static const char *add(struct rolled_files *files, size_t size)
{
	static const char content[64];
	static time_t begin = NOON;
	const char *path = rolled_files__name(files, dateless, ++begin);

	assert_non_null(path);
	write_file(path, content, size);
	assert_int_equal(rolled_files__add(files), 0);
	return path;
}

/* The same of another interval. */
static const char *roll(struct rolled_files *files, size_t size)
{
	rolled_files__begin(files);
	return add(files, size);
}

static struct rolled_files *open_files(struct stage *stage, const char *name, uint64_t count,
				       uint64_t bytes)
{
	struct rolled_files *files;

	snprintf(dateless, sizeof(dateless), "%s", in_folder(stage, name));
	assert_int_equal(rolled_files__new(dateless, count, bytes, &files), 0);
	return files;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The date precedes the ending; no name is used twice, even if another program's file has it. */
static void names_are_of_the_time_and_free(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 0, 0);
	const char *path;

	setenv("TZ", "UTC", 1);
	path = rolled_files__name(files, dateless, NOON);
	assert_string_equal(strrchr(path, '/'), "/x-20010909-014640.json");
	write_file(path, "", 0);
	path = rolled_files__name(files, dateless, NOON);
	assert_string_equal(strrchr(path, '/'), "/x-20010909-014640_2.json");
	assert_int_equal(symlink("nowhere", path), 0);
	path = rolled_files__name(files, dateless, NOON);
	assert_string_equal(strrchr(path, '/'), "/x-20010909-014640_3.json");
	rolled_files__free(files);
	files = open_files(*state, ".x", 0, 0);
	path = rolled_files__name(files, dateless, NOON);
	assert_string_equal(strrchr(path, '/'), "/.x-20010909-014640");
	rolled_files__free(files);
}

static void keeps_the_newest_in_number(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 2, 0);
	char *first = strdup(roll(files, 1)), *second = strdup(roll(files, 1)), *third;

	assert_true(is_there(first));
	third = strdup(roll(files, 1));
	assert_false(is_there(first));
	assert_true(is_there(second));
	assert_true(is_there(third));
	free(first);
	free(second);
	free(third);
	rolled_files__free(files);
}

/* Also where they are not as many as those of another. */
static void all_of_an_interval_go_together(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 2, 0);
	char *old[3], *next;

	for (int i = 0; i < 3; i++)
		old[i] = strdup(i ? add(files, 1) : roll(files, 1));
	next = strdup(roll(files, 1));
	for (int i = 0; i < 3; i++)
		assert_true(is_there(old[i]));
	roll(files, 1);
	for (int i = 0; i < 3; i++) {
		assert_false(is_there(old[i]));
		free(old[i]);
	}
	assert_true(is_there(next));
	add(files, 1);
	assert_true(is_there(next));
	free(next);
	rolled_files__free(files);
}

static void all_of_the_newest_stay_whatever_they_hold(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 0, 15);
	char *first = strdup(roll(files, 10)), *second = strdup(roll(files, 10)), *third;

	assert_false(is_there(first));
	third = strdup(add(files, 10));
	assert_true(is_there(second));
	assert_true(is_there(third));
	free(first);
	free(second);
	free(third);
	rolled_files__free(files);
}

static void keeps_the_newest_in_size(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 0, 30);
	char *first = strdup(roll(files, 10)), *second = strdup(roll(files, 20)), *third;

	assert_true(is_there(first));
	third = strdup(roll(files, 5));
	assert_false(is_there(first));
	assert_true(is_there(second));
	assert_true(is_there(third));
	/* However large it is. */
	assert_true(is_there(roll(files, 40)));
	assert_false(is_there(second));
	assert_false(is_there(third));
	free(first);
	free(second);
	free(third);
	rolled_files__free(files);
}

static void what_is_another_file_by_now_stays(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 1, 0);
	char *first = strdup(roll(files, 10)), *err;
	struct captured captured;

	assert_int_equal(unlink(first), 0);
	write_file(first, "foreigners", 10);
	captured__start(&captured, STDERR_FILENO);
	roll(files, 10);
	err = captured__end(&captured);
	assert_true(is_there(first));
	assert_non_null(strstr(err, "': it changed since luaspy wrote it"));
	free(err);
	free(first);
	rolled_files__free(files);
}

static void what_somebody_took_away_is_no_failure(void **state)
{
	struct rolled_files *files = open_files(*state, "x.json", 1, 0);
	struct captured captured;
	char *err;

	assert_int_equal(unlink(roll(files, 10)), 0);
	captured__start(&captured, STDERR_FILENO);
	roll(files, 10);
	err = captured__end(&captured);
	assert_string_equal(err, "");
	free(err);
	rolled_files__free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_are_of_the_time_and_free),
		staged(keeps_the_newest_in_number),
		staged(keeps_the_newest_in_size),
		staged(all_of_an_interval_go_together),
		staged(all_of_the_newest_stay_whatever_they_hold),
		staged(what_is_another_file_by_now_stays),
		staged(what_somebody_took_away_is_no_failure),
	};

	return cmocka_run_group_tests_name("rolled files", tests, NULL, NULL);
}
