/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

/* What cmocka hands from one function to the next. */
struct run {
	const struct rows *rows;
	size_t row;
	const struct fixture_test *test;
	struct fixture *fixture;
	char name[200];
};

static int set_up(void **state)
{
	struct run *run = *state;

	run->fixture = run->rows->start(run->row);
	return run->fixture ? 0 : -1;
}

static void run_one(void **state)
{
	struct run *run = *state;

	run->test->run(run->fixture);
}

static int tear_down(void **state)
{
	struct run *run = *state;

	run->rows->end(run->fixture);
	return 0;
}

int rows__run(const char *group, const struct rows *rows, const struct fixture_test *tests,
	      size_t count)
{
	size_t total = count * rows->count;
	struct CMUnitTest *units = calloc(total, sizeof(*units));
	struct run *runs = calloc(total, sizeof(*runs));
	int failed = 1;

	if (!units || !runs)
		goto cleanup;
	for (size_t i = 0; i < total; i++) {
		runs[i].rows = rows;
		runs[i].row = i % rows->count;
		runs[i].test = &tests[i / rows->count];
		snprintf(runs[i].name, sizeof(runs[i].name), "%s (%s)", runs[i].test->name,
			 rows->name(runs[i].row));
		units[i] = (struct CMUnitTest){runs[i].name, run_one, set_up, tear_down, &runs[i]};
	}
	failed = _cmocka_run_group_tests(group, units, total, NULL, NULL);
cleanup:
	free(units);
	free(runs);
	return failed;
}
