/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "watching.h"

void watching__start(struct stage *stage, const char *options, const char *locale, int width,
		     int height)
{
	char command[512];

	pane__open(stage, locale, width, height);
	snprintf(command, sizeof(command), "%s top %s; echo status $?", luaspy_program(), options);
	pane__type(stage, command);
	pane__press(stage, "Enter");
}

/* The seconds on the clock at the end of the first line; -1 if there is none. */
static int seconds_shown(struct stage *stage)
{
	const char *line = pane__line(stage, 0), *clock = strrchr(line, ' ');
	int hours, minutes, seconds;

	if (!clock || sscanf(clock, "%d:%d:%d", &hours, &minutes, &seconds) != 3)
		return -1;
	return 3600 * hours + 60 * minutes + seconds;
}

void watching__await_seconds(struct stage *stage, int least, int most)
{
	double end = now_seconds() + WATCHING_PATIENCE;
	int shown;

	while (shown = seconds_shown(stage), shown < least || shown > most) {
		if (now_seconds() > end)
			fail_msg("the clock does not show %d to %d s:\n%s", least, most,
				 pane__text(stage));
		sleep_seconds(0.05);
	}
}

const char *watching__await_end(struct stage *stage, int status)
{
	char text[32];

	snprintf(text, sizeof(text), "status %d\nready>", status);
	return pane__await(stage, text);
}

double watching__percent(const char *share)
{
	return strtod(share + (*share == '>'), NULL);
}

const char *watching__line_with(struct stage *stage, const char *text, int *at)
{
	const char *shown = pane__text(stage), *found = strstr(shown, text), *start = found;
	int line = 0;

	if (!found)
		return "";
	while (start > shown && start[-1] != '\n')
		start--;
	for (const char *c = shown; c < start; c++)
		line += *c == '\n';
	if (at)
		*at = line;
	return stage__own(stage, strndup(start, strcspn(start, "\n")), free);
}

void watching__read_row(struct stage *stage, const char *name, double values[4])
{
	const char *line = watching__line_with(stage, name, NULL);
	char self[16], total[16];

	if (sscanf(line, "%15s %15s %lfs %lfs", self, total, &values[2], &values[3]) != 4)
		fail_msg("no row of '%s':\n%s", name, pane__text(stage));
	values[0] = watching__percent(self);
	values[1] = watching__percent(total);
}
