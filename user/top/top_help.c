/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/top_help.h"

#include <stdio.h>
#include <string.h>

static const char *const help[] = {
	"1-5 <> i sort by that column, by the one beside; reverse",
	"arrows, PgUp, PgDn, Home, End: move; the cursor stays with its function",
	"/  n  N  search in names and sources; next, previous",
	"f  Esc   show only rows with some text in them; forget that and the search",
	"Enter    callers and callees of a function, functions of a process; Esc: back",
	"v Tab o  processes, or functions of all of them; only those of this process",
	"a        times as averages per 1 s, 1, 5 or 10 min; since the start or r again",
	"G  P     hide the garbage collector, plugins (--plugin); show them again",
	"p Space  freeze the picture, and go on; it is sampled all the time",
	"r        count from zero (what w writes has all)",
	"w        write the profile so far to NAME-PID-DATE.json",
	"q Ctrl-C quit",
	"self% total%: of a processor in the last second; self is without callees",
	"limit: what interrupts, BPF and luaspy took of CPU time, by --max-overhead",
};

#define HELP_COUNT  (sizeof(help) / sizeof(help[0]))
#define HELP_INDENT 9 /* where the meanings of keys begin */

/* The bytes of `text` that fit into `columns`: whole words, if the first of them fits. */
static size_t fit_words(const char *text, size_t columns)
{
	size_t length = strlen(text), end = columns;

	if (length <= columns)
		return length;
	while (end && text[end] != ' ')
		end--;
	return end ? end : columns;
}

/* Writes a line of the help to `to`, "" if there is none. Returns how many there are. */
static uint32_t wrap_help(unsigned width, uint32_t wanted, char *to, size_t size)
{
	uint32_t count = 0;

	to[0] = '\0';
	for (size_t i = 0; i < HELP_COUNT; i++) {
		const char *text = help[i];
		unsigned indent = 0;

		while (*text) {
			size_t length = fit_words(text, width - indent);

			if (count++ == wanted)
				snprintf(to, size, "%*s%.*s", (int)indent, "", (int)length, text);
			text += length;
			text += strspn(text, " ");
			indent = width > 2 * HELP_INDENT ? HELP_INDENT : 0;
		}
	}
	return count;
}

uint32_t top_help__lines(unsigned width)
{
	char line[ROW_TEXT_SIZE];

	return wrap_help(width, 0, line, sizeof(line));
}

void top_help__draw(const struct row_writer *writer, uint32_t first, uint32_t height)
{
	char line[ROW_TEXT_SIZE];

	for (uint32_t i = 0; i < height; i++) {
		wrap_help(writer->top_view->width, first + i, line, sizeof(line));
		row_writer__put(writer, STYLE_PLAIN, line);
	}
}
