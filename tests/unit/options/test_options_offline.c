/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command lines of what works on recordings in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parsing.h"
#include "report/report_data.h"

static void takes_two_dashes_in_front_of_the_first_file(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "diff", "--", "a.json", "b.json");
	assert_int_equal(options.diff.input_count, 2);
	assert_int_equal(options.diff.before_count, 1);
	assert_string_equal(options.diff.inputs[0], "a.json");
	assert_string_equal(options.diff.inputs[1], "b.json");
	assert_runs(&options, "merge", "--", "a.json", "b.json", "-o", "c.json");
	assert_int_equal(options.merge.input_count, 2);
	assert_string_equal(options.merge.inputs[1], "b.json");
	assert_runs(&options, "report", "--", "a.json");
	assert_int_equal(options.report.file_count, 1);
	assert_runs(&options, "convert", "--", "-a.json", "-o", "c.json");
	assert_string_equal(options.convert.input, "-a.json");
	assert_runs(&options, "trim", "--", "a.json", "--from=1s", "-o", "c.json");
	assert_string_equal(options.trim.input, "a.json");
	assert_runs(&options, "open", "--", "a.json");
	assert_string_equal(options.open.file, "a.json");
	assert_runs(&options, "report", "--json", "--", "a.json");
	assert_int_equal(options.report.file_count, 1);
	/* Nothing of an earlier command line is left. */
	assert_runs(&options, "report", "a.json", "--");
	assert_int_equal(options.report.file_count, 1);
}

static void a_diff_has_two_sides(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "diff", "a", "b", "--", "c");
	assert_int_equal(options.diff.before_count, 2);
	assert_runs(&options, "diff", "--", "a", "--", "b");
	assert_int_equal(options.diff.before_count, 1);
	assert_wrong("unexpected second '--' before 'c': there are two sides, before and after",
		     "diff", "a", "--", "b", "--", "c");
}

static void assumes_more_noise_of_one_recording_a_side(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "diff", "a", "b");
	assert_int_equal(options.diff.noise_ppm, 80000);
	assert_runs(&options, "diff", "a", "b", "--", "c");
	assert_int_equal(options.diff.noise_ppm, 20000);
	assert_runs(&options, "diff", "a", "b", "--noise=1%");
	assert_int_equal(options.diff.noise_ppm, 10000);
}

static void a_part_may_begin_at_the_start(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "trim", "a", "--from=0", "--to=2s", "-o", "b.json");
	assert_int_equal(options.trim.from_ns, 0);
	assert_int_equal(options.trim.to_ns, 2000000000);
	assert_runs(&options, "trim", "a", "--from=0s", "-o", "b.json");
	assert_runs(&options, "trim", "a", "--from", "0ms", "-o", "b.json");
	assert_wrong("'--mark' and '--from' both say which part: give one of them", "trim", "a",
		     "--from=0", "--mark=x", "-o", "b.json");
	assert_wrong("out of range: value '0' of option '--to' (accepted: a time such as 500ms, "
		     "30, 1.5s, 5m or 1h, up to 365 days)",
		     "trim", "a", "--to=0", "-o", "b.json");
}

static void help_names_views_that_there_are(void **state)
{
	struct options options;
	char *out, *err, *views, *end;

	(void)state;
	assert_int_equal(parsing__run(&options, &out, &err, "report", "--help", NULL),
			 OPTIONS_DONE);
	views = strstr(out, "--view=VIEW");
	end = strstr(out, "--sort=COLUMN");
	assert_non_null(views);
	assert_non_null(end);
	*end = '\0';
	for (int view = 0; view < REPORT_VIEWS; view++)
		assert_non_null(strstr(views, report_views[view]));
	/* That looks like a view, and is none. */
	assert_null(strstr(views, "or threads;"));
	free(out);
	free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_two_dashes_in_front_of_the_first_file),
		cmocka_unit_test(a_diff_has_two_sides),
		cmocka_unit_test(assumes_more_noise_of_one_recording_a_side),
		cmocka_unit_test(a_part_may_begin_at_the_start),
		cmocka_unit_test(help_names_views_that_there_are),
	};

	return cmocka_run_group_tests_name("options of offline commands", tests, NULL, NULL);
}
