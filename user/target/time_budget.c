/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "time_budget.h"

#include <time.h>

#include "clock.h"

bool time_budget__begin(struct time_budget *budget)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!budget->start_ns)
		budget->start_ns = now_ns;
	if (budget->spent_ns >
	    TIME_BUDGET_GRANT_NS + (now_ns - budget->start_ns) / TIME_BUDGET_DIVISOR)
		return false;
	budget->begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return true;
}

void time_budget__end(struct time_budget *budget)
{
	budget->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - budget->begun_ns;
}
