/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "process/time_budget.h"

#define GRANT_NS      TIME_BUDGET_PROCESS_NS
#define NS_PER_SECOND 1000000000ULL

static void allows_work_until_the_grant_is_spent(void **state)
{
	struct time_budget budget = {0};

	(void)state;
	assert_true(time_budget__allows(&budget, GRANT_NS, 1));
	time_budget__spend(&budget, GRANT_NS);
	assert_true(time_budget__allows(&budget, GRANT_NS, 1));
	time_budget__spend(&budget, NS_PER_SECOND);
	assert_false(time_budget__allows(&budget, GRANT_NS, 1));
	assert_true(time_budget__allows(&budget, 2 * NS_PER_SECOND, 1));
}

static void allows_a_share_of_the_time_that_passes(void **state)
{
	struct time_budget budget = {0};

	(void)state;
	assert_true(time_budget__allows(&budget, GRANT_NS, 1));
	time_budget__spend(&budget, GRANT_NS + NS_PER_SECOND);
	budget.start_ns -= (TIME_BUDGET_DIVISOR - 1) * NS_PER_SECOND;
	assert_false(time_budget__allows(&budget, GRANT_NS, 1));
	assert_true(time_budget__allows(&budget, GRANT_NS, 2));
	budget.start_ns -= NS_PER_SECOND;
	assert_true(time_budget__allows(&budget, GRANT_NS, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allows_work_until_the_grant_is_spent),
		cmocka_unit_test(allows_a_share_of_the_time_that_passes),
	};

	return cmocka_run_group_tests_name("time_budget", tests, NULL, NULL);
}
