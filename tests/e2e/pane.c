/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pane.h"

#define PATIENCE    30
#define SCREEN_SIZE 65536

/* tmux's output for a command, which the caller frees; NULL if it failed. */
static char *ask(const struct stage *stage, const char *command)
{
	char line[1024], *said = calloc(1, SCREEN_SIZE);
	FILE *stream;

	assert_non_null(said);
	snprintf(line, sizeof(line), "tmux -N -S '%s/tmux' -u %s 2>&1", stage->folder, command);
	stream = popen(line, "r");
	assert_non_null(stream);
	fread(said, 1, SCREEN_SIZE - 1, stream);
	if (!pclose(stream))
		return said;
	free(said);
	return NULL;
}

static void tell(const struct stage *stage, const char *command)
{
	char *said = ask(stage, command);

	if (!said)
		fail_msg("tmux does not take '%s'", command);
	free(said);
}

void pane__open(struct stage *stage, const char *locale, int width, int height)
{
	double end = now_seconds() + PATIENCE;
	char command[512], *said;

	/* tmux stays in the foreground, so that the stage can kill it. */
	start(stage, "tmux", "-S", "tmux", "-u", "-f", "/dev/null", "-D");
	snprintf(command, sizeof(command),
		 "new-session -d -x %d -y %d -c '%s' env LC_ALL=%s PS1='ready> ' ENV= sh", width,
		 height, stage->folder, locale);
	while (!(said = ask(stage, command))) {
		if (now_seconds() > end)
			fail_msg("tmux does not start");
		sleep_seconds(0.05);
	}
	free(said);
	pane__await(stage, "ready>");
}

void pane__resize(struct stage *stage, int width, int height)
{
	char command[64];

	snprintf(command, sizeof(command), "resize-window -x %d -y %d", width, height);
	tell(stage, command);
}

void pane__press(struct stage *stage, const char *key)
{
	char command[64];

	snprintf(command, sizeof(command), "send-keys %s", key);
	tell(stage, command);
}

void pane__type(struct stage *stage, const char *text)
{
	char command[768];

	snprintf(command, sizeof(command), "send-keys -l '%s'", text);
	tell(stage, command);
}

const char *pane__text(struct stage *stage)
{
	static char shown[SCREEN_SIZE];
	char *said = ask(stage, "capture-pane -p");

	/* The pane is gone once its shell has ended. */
	snprintf(shown, sizeof(shown), "%s", said ? said : "");
	free(said);
	return shown;
}

const char *pane__line(struct stage *stage, int at)
{
	static char line[SCREEN_SIZE];
	const char *text = pane__text(stage);

	for (; at && text; at--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	snprintf(line, sizeof(line), "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	return line;
}

static const char *await(struct stage *stage, const char *text, bool is_there)
{
	double end = now_seconds() + PATIENCE;
	const char *shown;

	while (shown = pane__text(stage), (strstr(shown, text) != NULL) != is_there) {
		if (now_seconds() > end)
			fail_msg("'%s' does not %s:\n%s", text, is_there ? "come" : "go", shown);
		sleep_seconds(0.05);
	}
	return shown;
}

const char *pane__await(struct stage *stage, const char *text)
{
	return await(stage, text, true);
}

const char *pane__await_without(struct stage *stage, const char *text)
{
	return await(stage, text, false);
}
