/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "split.h"

#define PARTS_MAX 4

/* What the script measured of each part. */
struct split {
	double us[PARTS_MAX], all_us;
	int count;
};

static struct split read_split(const char *said)
{
	struct split split = {.count = 0};
	const char *at = strstr(said, "SPLIT ");
	char *end;

	assert_non_null(at);
	for (at += strlen("SPLIT "); split.count < PARTS_MAX; at = end) {
		double us = strtod(at, &end);

		if (end == at)
			break;
		split.us[split.count++] = us;
		split.all_us += us;
	}
	assert_in_range(split.count, 2, PARTS_MAX);
	return split;
}

void split__check(const struct watched *watched, double slack)
{
	struct split split = read_split(watched->said);
	double found_us[PARTS_MAX], all_us = 0, samples;
	int wrong = 0;
	char name[24];

	for (int i = 0; i < split.count; i++) {
		snprintf(name, sizeof(name), "part_%d", i + 1);
		found_us[i] = (double)scriptprofile__self_us(watched->profile, NULL, name, -1);
		all_us += found_us[i];
	}
	samples = (double)scriptprofile__samples(watched->profile, "complete") * all_us /
		  (double)watched->profile->all_us;
	print_message("%.0f samples, measured %.0f us, found %.0f us\n", samples, split.all_us,
		      all_us);
	for (int i = 0; i < split.count; i++) {
		snprintf(name, sizeof(name), "part_%d", i + 1);
		if (split.us[i] > 0)
			wrong += share_is_wrong(name, found_us[i], all_us,
						split.us[i] / split.all_us, samples, slack);
	}
	assert_int_equal(wrong, 0);
}
