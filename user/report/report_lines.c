/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hot lines beside their source text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "report/hot_lines.h"
#include "report/report_views.h"
#include "summary/function_label.h"

#define TIME_WIDTH 10
#define LINE_SIZE  (2 * PRINTER_TEXT_SIZE + 4 * UNITS_SIZE)
#define AROUND     1 /* lines shown before and after a hot one */

static const char *reason_of(const char *source, int error)
{
	if (*source == '[')
		return "the text of this chunk is in no file";
	if (error == -ESTALE)
		return "no text: the file has changed since it was recorded";
	if (error == -ENOEXEC)
		return "no text: not a regular file";
	return error == -ENOENT ? "no text: there is no such file here" : strerror(-error);
}

static void put_source(const struct report *report, const struct printer *printer,
		       const struct hot_line *line, int error)
{
	char share[UNITS_SIZE], name[PRINTER_TEXT_SIZE], text[LINE_SIZE];

	units__format_share(line->source_us, report->totals->all_us, share, sizeof(share));
	snprintf(text, sizeof(text), "%s  %s", log__printable(line->source, name, sizeof(name)),
		 share);
	printer__line(printer, "");
	printer__styled(printer, PRINTER_TITLE, text);
	if (error && !report->no_source) {
		snprintf(text, sizeof(text), "  (%s)", reason_of(line->source, error));
		printer__styled(printer, PRINTER_FAINT, text);
	}
}

/* A line that is not hot itself. */
static void put_context(const struct printer *printer, const struct source_text *source,
			uint32_t number)
{
	char text[PRINTER_TEXT_SIZE], line[LINE_SIZE];

	if (!source_text__format_line(source, number, text, sizeof(text)))
		return;
	snprintf(line, sizeof(line), "  %6s  %*s  %6" PRIu32 "  %s", "", TIME_WIDTH, "", number,
		 text);
	printer__styled(printer, PRINTER_FAINT, line);
}

/* Without a text, the function is beside the line. */
static void put_line(const struct report *report, const struct printer *printer,
		     const struct source_text *source, const struct hot_line *hot)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	char share[UNITS_SIZE], time[UNITS_SIZE], text[PRINTER_TEXT_SIZE], line[LINE_SIZE];
	struct function_label label;

	units__format_share(hot->self_us, report->totals->all_us, share, sizeof(share));
	printer__format_time(printer, hot->self_us, time, sizeof(time));
	if (!source || !source_text__format_line(source, hot->line, text, sizeof(text))) {
		function_label__make(&profile->functions[hot->function], &label);
		snprintf(text, sizeof(text), "in %.*s", (int)sizeof(text) - 4, label.name);
	}
	snprintf(line, sizeof(line), "  %6s  %*s  %6" PRIu32 "  %s", share, TIME_WIDTH, time,
		 hot->line, text);
	printer__styled(printer, printer__heat(hot->self_us, report->totals->all_us), line);
}

/* The lines of one source, which go up, with those around them. */
static void put_lines(const struct report *report, const struct printer *printer,
		      const struct source_text *source, const struct hot_line *lines, size_t count)
{
	uint64_t next = 1; /* the first line that was not printed yet */

	for (size_t i = 0; i < count; i++) {
		uint64_t hot = lines[i].line, from = hot > AROUND ? hot - AROUND : 1;
		uint64_t end = i + 1 < count ? lines[i + 1].line : hot + AROUND + 1;

		from = from < next ? next : from;
		if (source && from > next && i)
			printer__styled(printer, PRINTER_FAINT,
					printer->utf8 ? "  \u22ee" : "  ...");
		for (; source && from < hot; from++)
			put_context(printer, source, (uint32_t)from);
		put_line(report, printer, source, &lines[i]);
		for (next = hot + 1; source && next < end && next <= hot + AROUND; next++)
			put_context(printer, source, (uint32_t)next);
	}
}

static void put_sources(const struct report *report, const struct printer *printer,
			const struct hot_line *lines, size_t count)
{
	for (size_t start = 0, end; start < count; start = end) {
		struct source_text *source = NULL;
		int error = report->no_source ? -ENOENT
					      : source_text__open(lines[start].source,
								  &report->folders, &source);

		for (end = start; end < count && !strcmp(lines[end].source, lines[start].source);)
			end++;
		put_source(report, printer, &lines[start], error);
		put_lines(report, printer, source, &lines[start], end - start);
		source_text__close(source);
	}
}

int report_lines__print(const struct report *report, const struct printer *printer)
{
	uint32_t without = selected_profile__without_lines(report->selected);
	struct hot_line *lines = NULL;
	char text[UNITS_SIZE + 128], number[UNITS_SIZE];
	size_t count = 0;
	int error = hot_lines__list(report, &lines, &count);

	if (!error) {
		printer__styled(printer, PRINTER_TITLE, "Lines, by self time");
		printer__line(printer, "    self        time    line");
		put_sources(report, printer, lines, count);
	}
	if (!error && !count)
		printer__line(printer, "  none: the recording has no lines of these functions");
	if (!error && without) {
		units__format_count(without, number, sizeof(number));
		snprintf(text, sizeof(text),
			 "lines of %s function%s are left out: only part of their time is shown",
			 number, without == 1 ? "" : "s");
		printer__wrapped(printer, "  ", text);
	}
	free(lines);
	return error;
}
