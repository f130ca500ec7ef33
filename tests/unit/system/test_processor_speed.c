/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "system/processor_speed.h"

#define NS UINT64_C(800000000)

static void makes_limits_larger_within_bounds(void **state)
{
	uint64_t scaled = processor_speed__scale(NS);

	(void)state;
	print_message("0.8 s of a server take %.1f s here\n", (double)scaled / 1e9);
	assert_in_range(scaled, NS, NS * PROCESSOR_SPEED_SLOWEST);
	assert_in_range(processor_speed__scale(2 * NS), 2 * scaled - 1, 2 * scaled + 1);
	assert_int_equal(processor_speed__scale(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_limits_larger_within_bounds),
	};

	return cmocka_run_group_tests_name("processor_speed", tests, NULL, NULL);
}
