/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sampler/timer_set.h"

static void shares_a_high_frequency_among_several(void **state)
{
	(void)state;
	assert_int_equal(timer_set__count(1000000000), 1);
	assert_int_equal(timer_set__count(1000000), 1);
	assert_int_equal(timer_set__count(400000), 1);
	assert_int_equal(timer_set__count(200000), 2);
	assert_int_equal(timer_set__count(100000), 4);
	assert_int_equal(timer_set__count(50000), 4);
	assert_int_equal(timer_set__count(0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_a_high_frequency_among_several),
	};

	return cmocka_run_group_tests_name("timer_set", tests, NULL, NULL);
}
