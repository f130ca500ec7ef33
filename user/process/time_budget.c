/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/time_budget.h"

#include <time.h>

#include "base/clock.h"

static uint64_t allowed_ns(struct time_budget *budget, uint64_t grant_ns, unsigned int processors)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!budget->start_ns)
		budget->start_ns = now_ns;
	return grant_ns + (now_ns - budget->start_ns) / TIME_BUDGET_DIVISOR * processors;
}

bool time_budget__allows(struct time_budget *budget, uint64_t grant_ns, unsigned int processors)
{
	return budget->spent_ns <= allowed_ns(budget, grant_ns, processors);
}

void time_budget__spend(struct time_budget *budget, uint64_t ns)
{
	budget->spent_ns += ns;
}

void time_budget__use_up(struct time_budget *budget, uint64_t grant_ns, unsigned int processors)
{
	uint64_t all_ns = allowed_ns(budget, grant_ns, processors);

	if (budget->spent_ns <= all_ns)
		budget->spent_ns = all_ns + 1;
}
