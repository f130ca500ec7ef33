/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy top, in a real terminal, while its frequency changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "budgets.h"
#include "watching.h"

/* From 125 Hz on, a busy machine takes half a minute to return to 1 kHz. */
#define PATIENCE       90
#define SETTLE_SECONDS 1 /* timers have another period soon after the message */

/* Waits until the line of the limit ends so. */
static void await_frequency(struct stage *stage, const char *text)
{
	double end = now_seconds() + PATIENCE;

	while (!strstr(watching__line_with(stage, "limit ", NULL), text)) {
		if (now_seconds() > end)
			fail_msg("no limit with '%s':\n%s", text, pane__text(stage));
		sleep_seconds(0.1);
	}
	sleep_seconds(SETTLE_SECONDS);
}

/* The function's own CPU time. */
static double self_of(struct stage *stage, const char *name)
{
	const char *line = watching__line_with(stage, name, NULL);
	double seconds;

	if (sscanf(line, "%*s %*s %lfs", &seconds) != 1)
		fail_msg("no row of '%s':\n%s", name, pane__text(stage));
	print_message("'%s': %.2f s\n", name, seconds);
	return seconds;
}

/* Each of the two functions takes two seconds; one of them is sampled less often. */
static void shows_the_right_time_at_any_frequency(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	char options[128];
	const char *limit;

	need_to_watch();
	limit = budgets__option(stage, 4 * budgets__shallow_ppm(stage));
	write_text(stage, "phases.lua", BUDGETS_PHASES);
	write_text(stage, "main.lua", BUDGETS_READY "dofile('phases.lua')");
	target = start(stage, built_program("host-5.4"), "main.lua");
	child__await_output(stage, target, "ready");
	snprintf(options, sizeof(options), "-p %d --max-depth=4096 %s", target->pid, limit);
	watching__start(stage, options, "C.UTF-8", 100, 24);
	await_frequency(stage, "in all; at 1,000 Hz");
	child__tell(target, "go");
	await_frequency(stage, " Hz, not 1,000 Hz");
	write_text(stage, "lowered", "");
	await_frequency(stage, "in all; at 1,000 Hz");
	write_text(stage, "raised", "");
	pane__await(stage, "[ended]");
	pane__press(stage, "3");
	pane__await(stage, ">self ");
	/* At the fewest samples, 200, other machines may cost a tenth. */
	assert_in_range(1000 * self_of(stage, " low "), 1700, 2300);
	assert_in_range(1000 * self_of(stage, " high "), 1700, 2300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_right_time_at_any_frequency),
	};

	return cmocka_run_group_tests_name("top with a limit", tests, NULL, NULL);
}
