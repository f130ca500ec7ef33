/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "time_budget.h"

#define NS_PER_SECOND 1000000000ULL

static void allows_work_until_the_grant_is_spent(void **state)
{
	struct time_budget budget = {0};

	(void)state;
	assert_true(time_budget__begin(&budget));
	time_budget__end(&budget);
	budget.spent_ns = TIME_BUDGET_GRANT_NS;
	assert_true(time_budget__begin(&budget));
	time_budget__end(&budget);
	budget.spent_ns = TIME_BUDGET_GRANT_NS + NS_PER_SECOND;
	assert_false(time_budget__begin(&budget));
}

static void allows_a_share_of_the_time_that_passes(void **state)
{
	struct time_budget budget = {0};

	(void)state;
	assert_true(time_budget__begin(&budget));
	time_budget__end(&budget);
	budget.spent_ns = TIME_BUDGET_GRANT_NS + NS_PER_SECOND;
	budget.start_ns -= (TIME_BUDGET_DIVISOR - 1) * NS_PER_SECOND;
	assert_false(time_budget__begin(&budget));
	budget.start_ns -= NS_PER_SECOND;
	assert_true(time_budget__begin(&budget));
}

/* Waiting is not working: only CPU time of this thread counts. */
static void counts_what_is_worked(void **state)
{
	struct time_budget budget = {0};
	volatile uint64_t count = 0;

	(void)state;
	assert_true(time_budget__begin(&budget));
	for (int i = 0; i < 1000000; i++)
		count += (uint64_t)i;
	time_budget__end(&budget);
	assert_in_range(budget.spent_ns, 100000, NS_PER_SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allows_work_until_the_grant_is_spent),
		cmocka_unit_test(allows_a_share_of_the_time_that_passes),
		cmocka_unit_test(counts_what_is_worked),
	};

	return cmocka_run_group_tests_name("time_budget", tests, NULL, NULL);
}
