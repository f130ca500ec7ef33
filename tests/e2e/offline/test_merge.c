/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy merge: which recordings may become one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30

/* One function that ran for two samples, which are in order of time if `has_order`. */
static void write_recording(struct stage *stage, const char *name, int frequency, bool has_order)
{
	char text[1024];
	int period_us = 1000000 / frequency;

	snprintf(text, sizeof(text),
		 "{\"Version\":2,\"SessionStartTime\":1000,\"SessionEndTime\":1100,"
		 "\"Categories\":[{\"Name\":\"lua\",\"NodeId\":1}],\"Nodes\":["
		 "{\"TotalDuration\":%d,\"FunctionIds\":[1],\"NodeIds\":[2]},"
		 "{\"TotalDuration\":%d,\"Samples\":2}],"
		 "\"Functions\":[{\"Source\":\"a.lua\",\"Name\":\"work\",\"Line\":1,"
		 "\"TotalDuration\":%d}],"
		 "\"Recorder\":{\"Tool\":\"luaspy\",\"Version\":\"1\",\"Frequency\":%d,"
		 "\"Period\":%d}%s}\n",
		 2 * period_us, 2 * period_us, 2 * period_us, frequency, period_us,
		 has_order ? ",\"Samples\":[[2,1000,7],[2,1000,7]]" : "");
	write_text(stage, name, text);
}

static struct child *merge_with(struct stage *stage, const char *const *words)
{
	struct child *child = stage__start(stage, words);

	child__wait(child, PATIENCE);
	return child;
}
#define merge(stage, ...)                                                                          \
	merge_with(stage, (const char *const[]){luaspy_program(), "merge", __VA_ARGS__, "-o",      \
						"out.json", NULL})

static void keeps_timelines_of_different_periods_apart(void **state)
{
	struct stage *stage = *state;
	struct child *child;

	write_recording(stage, "a.json", 1000, true);
	write_recording(stage, "b.json", 100, true);
	write_recording(stage, "c.json", 1000, true);
	write_recording(stage, "d.json", 100, false);
	child = merge(stage, "a.json", "c.json", "b.json", "--together");
	assert_int_equal(child->status, 1);
	assert_string_equal(
		child__errors(stage, child),
		"luaspy: cannot merge the timelines of 'a.json' and 'b.json': they were sampled at "
		"1,000 Hz and 100 Hz (record at one frequency, or merge without '--together')\n");
	assert_int_equal(merge(stage, "a.json", "c.json", "--together")->status, 0);
	assert_int_equal(merge(stage, "a.json", "b.json")->status, 0);
	/* Without an order, times are sums. */
	assert_int_equal(merge(stage, "a.json", "d.json", "--together")->status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(keeps_timelines_of_different_periods_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
