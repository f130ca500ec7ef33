/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parsing.h"

#define ACCEPTED "' of option '--max-overhead' (accepted: 0.01 to 100%, such as 0.5%, or none)"

static void limits_nothing_but_a_system_by_default(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1");
	assert_int_equal(options.record.sampling.max_overhead_ppm, 0);
	assert_runs(&options, "record", "--system");
	assert_int_equal(options.record.sampling.max_overhead_ppm, 10000);
}

static void takes_a_limit_or_none(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "--max-overhead=0.5%");
	assert_int_equal(options.record.sampling.max_overhead_ppm, 5000);
	assert_runs(&options, "record", "--max-overhead", "2", "--system");
	assert_int_equal(options.record.sampling.max_overhead_ppm, 20000);
	assert_runs(&options, "record", "--max-overhead=none", "--system");
	assert_int_equal(options.record.sampling.max_overhead_ppm, 0);
	assert_runs(&options, "record", "--system", "--max-overhead=off");
	assert_int_equal(options.record.sampling.max_overhead_ppm, 0);
}

static void refuses_what_is_no_share(void **state)
{
	(void)state;
	assert_wrong("out of range: value '0" ACCEPTED, "record", "-p1", "--max-overhead=0");
	assert_wrong("out of range: value '101%" ACCEPTED, "record", "-p1", "--max-overhead=101%");
	assert_wrong("cannot understand value 'little" ACCEPTED, "record", "-p1",
		     "--max-overhead=little");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_nothing_but_a_system_by_default),
		cmocka_unit_test(takes_a_limit_or_none),
		cmocka_unit_test(refuses_what_is_no_share),
	};

	return cmocka_run_group_tests_name("options_overhead", tests, NULL, NULL);
}
