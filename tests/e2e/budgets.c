/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "budgets.h"

const json_t *budgets__recorder(const struct scriptprofile *profile)
{
	return json_object_get(profile->document, "Recorder");
}

int64_t budgets__overhead(const struct scriptprofile *profile, const char *key)
{
	const json_t *value =
		json_object_get(json_object_get(budgets__recorder(profile), "Overhead"), key);

	if (!json_is_integer(value))
		fail_msg("no 'Overhead' with '%s'", key);
	return json_integer_value(value);
}

static double cost_ppm(struct stage *stage, const struct child *busy)
{
	struct scriptprofile *profile =
		record(stage, busy->pid, "--max-overhead=100%", "--until-samples=1000");

	return 1e6 *
	       (double)(budgets__overhead(profile, "Interrupts") +
			budgets__overhead(profile, "Bpf")) /
	       (double)scriptprofile__recorded(profile, "CpuDuration");
}

/* A hypervisor that stops the machine during a sample adds to its cost and never reduces it. */
double budgets__shallow_ppm(struct stage *stage)
{
	struct child *busy = start_busy(stage);
	double ppm = cost_ppm(stage, busy);

	for (int i = 1; i < 3; i++)
		ppm = fmin(ppm, cost_ppm(stage, busy));
	child__kill(busy);
	print_message("1,000 samples a second cost %.2f%%\n", ppm / 1e4);
	return ppm;
}

const char *budgets__option(struct stage *stage, double ppm)
{
	char *option = malloc(64);

	assert_non_null(option);
	stage__own(stage, option, free);
	snprintf(option, 64, "--max-overhead=%.4f%%", ppm / 1e4);
	return option;
}
