/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/hot_lines.h"

#define TEXT_SIZE 4096 /* of a line, escaped */

static int add(struct source_lines *lines, const char *source, uint32_t line, const char *text)
{
	char *copy;

	if (lines->count == lines->room) {
		size_t room = lines->room ? 2 * lines->room : 64;
		struct ls_profile_text *texts = reallocarray(lines->texts, room, sizeof(*texts));

		if (!texts)
			return -ENOMEM;
		lines->texts = texts;
		lines->room = room;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	lines->bytes += strlen(text);
	lines->texts[lines->count++] =
		(struct ls_profile_text){.source = source, .line = line, .text = copy};
	return 0;
}

/* The hot lines of one source, which go up, with those around them, each once. */
static int add_source(struct source_lines *lines, const struct source_text *text,
		      const struct hot_line *hot, size_t count)
{
	char formatted[TEXT_SIZE];
	uint64_t next = 1;
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		uint64_t from = hot[i].line > SOURCE_LINES_AROUND
					? (uint64_t)hot[i].line - SOURCE_LINES_AROUND
					: 1;
		uint64_t last = (uint64_t)hot[i].line + SOURCE_LINES_AROUND;

		for (next = from > next ? from : next; next <= last && !error; next++) {
			if (next > UINT32_MAX || lines->bytes > SOURCE_LINES_BYTES ||
			    !source_text__format_line(text, (uint32_t)next, formatted,
						      sizeof(formatted)))
				break;
			error = add(lines, hot[0].source, (uint32_t)next, formatted);
		}
	}
	return error;
}

static int add_all(const struct report *report, struct source_lines *lines)
{
	struct hot_line *hot = NULL;
	size_t count = 0;
	int error = hot_lines__list(report, &hot, &count);

	for (size_t start = 0, end; start < count && !error; start = end) {
		struct source_text *text;

		for (end = start; end < count && !strcmp(hot[end].source, hot[start].source);)
			end++;
		if (source_text__open(hot[start].source, &report->folders, &text))
			continue;
		error = add_source(lines, text, &hot[start], end - start);
		source_text__close(text);
	}
	free(hot);
	return error;
}

int source_lines__read(const struct ls_profile *profile, const char *path,
		       struct source_lines *lines)
{
	const struct selection selection = {};
	struct selected_profile *selected;
	struct ls_totals totals = {};
	struct report report = {.totals = &totals,
				.folders = {.recordings = &path,
					    .count = 1,
					    .recorded_ms = profile->recorder.start_ms},
				.limit = SOURCE_LINES_HOT};
	int error = selected_profile__new(&profile, 1, &selection, &selected);

	*lines = (struct source_lines){};
	if (!error)
		error = totals__compute(selected_profile__profile(selected), &totals);
	report.selected = selected;
	if (!error)
		error = add_all(&report, lines);
	totals__free(&totals);
	selected_profile__free(selected);
	return error;
}

void source_lines__free(struct source_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free((char *)(uintptr_t)lines->texts[i].text);
	free(lines->texts);
	*lines = (struct source_lines){};
}
