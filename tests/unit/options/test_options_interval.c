/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "parsing.h"

#define EXCLUDES(output)                                                                           \
	"'--interval' excludes '--output " output "' (it writes a file for each interval)"

static void takes_intervals_and_what_to_keep(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1");
	assert_int_equal(options.record.interval_ns, 0);
	assert_int_equal(options.record.keep, 0);
	assert_int_equal(options.record.keep_bytes, 0);
	assert_runs(&options, "record", "-p1", "--interval=1m", "--keep", "60", "--keep-size=10M");
	assert_int_equal(options.record.interval_ns, 60000000000);
	assert_int_equal(options.record.keep, 60);
	assert_int_equal(options.record.keep_bytes, 10 << 20);
	assert_runs(&options, "record", "--system", "--interval=100ms", "-o", "/dev/shm/x.json");
	assert_int_equal(options.record.interval_ns, 100000000);
}

static void refuses_intervals_that_are_too_short(void **state)
{
	(void)state;
	assert_wrong("out of range: value '99ms' of option '--interval' (accepted: a time such "
		     "as 1m, 100ms at least, up to 365 days)",
		     "record", "-p1", "--interval=99ms");
}

static void refuses_to_keep_nothing(void **state)
{
	(void)state;
	assert_wrong("out of range: value '0' of option '--keep' (accepted: a number of files, "
		     "1 to 1000000)",
		     "record", "-p1", "--interval=1m", "--keep=0");
	assert_wrong("out of range: value '0' of option '--keep-size' (accepted: bytes, such as "
		     "500k, 10M or 1G)",
		     "record", "-p1", "--interval=1m", "--keep-size=0");
	assert_wrong("cannot understand value '10X' of option '--keep-size' (accepted: bytes, such "
		     "as 500k, 10M or 1G)",
		     "record", "-p1", "--interval=1m", "--keep-size=10X");
}

static void refuses_what_cannot_be_many_files(void **state)
{
	(void)state;
	assert_wrong(EXCLUDES("-"), "record", "-p1", "--interval=1m", "-o", "-");
	assert_wrong(EXCLUDES("/dev/stdout"), "record", "-p1", "--interval=1m", "-o",
		     "/dev/stdout");
	assert_wrong("'--keep' needs '--interval': there is one file", "record", "-p1", "--keep=2");
	assert_wrong("'--keep-size' needs '--interval': there is one file", "record", "-p1",
		     "--keep-size=1G");
}

/* A file for each process has the same categories as the file of a single process. */
static void takes_a_folder(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1,2");
	assert_null(options.record.output_dir);
	assert_int_equal(options.record.category, CATEGORY_PROCESS);
	assert_runs(&options, "record", "-p1,2", "--output-dir=out");
	assert_string_equal(options.record.output_dir, "out");
	assert_int_equal(options.record.category, CATEGORY_THREAD);
	assert_runs(&options, "record", "--system", "--output-dir", "out/", "--interval=1m",
		    "--keep=2", "--merge-by=user", "--category=chunk");
	assert_int_equal(options.record.category, CATEGORY_CHUNK);
	assert_runs(&options, "record", "-p1", "--output-dir=.");
}

static void refuses_a_folder_and_a_file(void **state)
{
	(void)state;
	assert_wrong("'--output-dir' excludes '--output' (files are named after their processes)",
		     "record", "--system", "--output-dir=out", "-o", "x.json");
	assert_wrong("cannot understand value '' of option '--output-dir' (accepted: the name of "
		     "a folder)",
		     "record", "-p1", "--output-dir=");
}

static void takes_a_mode_that_lets_nobody_else_write(void **state)
{
	static const char *const wrong[] = {"", "8", "rw-r--r--", "0o644", "-1", " 644"};
	static const char *const beyond[] = {"666",
					     "755",
					     "4644",
					     "0",
					     "040",
					     "99999999999999999999",
					     "7777777777777777777777777"};
	struct options options;
	char message[160], *out, *err;

	(void)state;
	assert_runs(&options, "record", "-p1");
	assert_int_equal(options.record.mode, 0);
	assert_runs(&options, "record", "-p1", "--mode=600");
	assert_int_equal(options.record.mode, 0600);
	assert_runs(&options, "record", "-p1", "--mode", "0664");
	assert_int_equal(options.record.mode, 0664);
	for (size_t i = 0; i < 6 + 7; i++) {
		const char *value = i < 6 ? wrong[i] : beyond[i - 6];

		snprintf(message, sizeof(message),
			 "luaspy: %s '%s' of option '--mode' (accepted: an octal number such as "
			 "600, 640 or 664)\n",
			 i < 6 || *value == '9' ? "cannot understand value" : "out of range: value",
			 value);
		assert_int_equal(
			parsing__run(&options, &out, &err, "record", "-p1", "--mode", value, NULL),
			OPTIONS_WRONG);
		assert_string_equal(err, message);
		free(out);
		free(err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_mode_that_lets_nobody_else_write),
		cmocka_unit_test(takes_intervals_and_what_to_keep),
		cmocka_unit_test(refuses_intervals_that_are_too_short),
		cmocka_unit_test(refuses_to_keep_nothing),
		cmocka_unit_test(refuses_what_cannot_be_many_files),
		cmocka_unit_test(takes_a_folder),
		cmocka_unit_test(refuses_a_folder_and_a_file),
	};

	return cmocka_run_group_tests_name("options of --interval", tests, NULL, NULL);
}
