/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "watched.h"

#define PATIENCE 20
#define Z_99_99  3.89

struct watched watched__run(struct stage *stage, const char *frequency, const char *end,
			    const char *const *words)
{
	struct child *target = stage__start(stage, words), *spy;
	struct watched watched;
	double before;

	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "-F", frequency, "-o", "profile.json", "-q");
	spying__await_timers(stage, spy);
	before = child__cpu_seconds(target);
	child__tell(target, "go");
	child__await_output(stage, target, end);
	sleep_seconds(0.1);
	watched.cpu_us = (child__cpu_seconds(target) - before) * 1e6;
	kill(spy->pid, SIGINT);
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
	watched.said = child__output(stage, target);
	watched.profile = spying__read(stage, in_folder(stage, "profile.json"));
	return watched;
}

bool share_is_wrong(const char *what, double us, double all_us, double expected, double samples,
		    double slack)
{
	double found = us / all_us;
	double allowed = Z_99_99 * sqrt(expected * (1 - expected) / samples) + slack;
	bool is_wrong = fabs(found - expected) > allowed;

	print_message("%s%s: %.3f%%, found %.3f%% (%+.3f%%, allowed: %.3f%%)\n",
		      is_wrong ? "wrong: " : "", what, 100 * expected, 100 * found,
		      100 * (found - expected), 100 * allowed);
	return is_wrong;
}
