/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "process/container.h"

#define NS_PER_S      UINT64_C(1000000000)
#define NATIVE        " <native>"
#define WIDTH_TIMES   64  /* below it, only the pair of columns sorted by is shown */
#define WIDTH_MANY    100 /* likewise, if functions are shown with their process */
#define PROCESS_WIDTH 28  /* of the process column, at most */

/* Columns before the name, as text. */
struct cells {
	char texts[LISTING_NAME][UNITS_SIZE];
	char count[16]; /* of processes in this row */
};

/* "123.45s", "123m05s", "123h05m": eight columns. */
static const char *format_time(uint64_t ns, char *to, size_t size)
{
	uint64_t hundredths = (ns + NS_PER_S / 200) / (NS_PER_S / 100);
	uint64_t seconds = (ns + NS_PER_S / 2) / NS_PER_S;

	if (hundredths < 100000)
		snprintf(to, size, "%" PRIu64 ".%02us", hundredths / 100,
			 (unsigned)(hundredths % 100));
	else if (seconds < 60000)
		snprintf(to, size, "%" PRIu64 "m%02us", seconds / 60, (unsigned)(seconds % 60));
	else
		snprintf(to, size, "%" PRIu64 "h%02um", seconds / 3600,
			 (unsigned)(seconds / 60 % 60));
	return to;
}

static bool is_of_processes(const struct row_writer *writer)
{
	return writer->top_view->listing->view == LISTING_PROCESSES;
}

/* Whether functions are shown with their process. */
static bool has_process(const struct row_writer *writer)
{
	return function_stats__is_of_many(writer->top_view->stats) &&
	       writer->top_view->listing->view == LISTING_FUNCTIONS;
}

static bool has_both_pairs(const struct row_writer *writer)
{
	return row_writer__width(writer) >= (has_process(writer) ? WIDTH_MANY : WIDTH_TIMES);
}

/* Whether that pair of columns is shown: the last second's, or that since the start or reset. */
static bool shows(const struct row_writer *writer, bool is_recent)
{
	enum listing_column column = listing__page(writer->top_view->listing)->column;

	if (has_both_pairs(writer))
		return true;
	return is_recent != (column == LISTING_SELF || column == LISTING_TOTAL);
}

/* Writes the columns before the name to `line`, which is long enough. Returns their width. */
static unsigned begin_row(const struct row_writer *writer, const struct cells *cells, char *line,
			  size_t size)
{
	size_t used = 0;

	line[0] = '\0';
	if (is_of_processes(writer) && writer->top_view->is_merged)
		used += (size_t)snprintf(line + used, size - used, "%5s ", cells->count);
	if (shows(writer, true))
		used += (size_t)snprintf(line + used, size - used, "%7s %7s ", cells->texts[0],
					 cells->texts[1]);
	if (shows(writer, false))
		used += (size_t)snprintf(line + used, size - used, "%8s %8s ", cells->texts[2],
					 cells->texts[3]);
	used += (size_t)snprintf(line + used, size - used, " ");
	return (unsigned)used;
}

/* Appends `texts` to `start` and paints the row: the process, name and place, "" for none. */
static void end_row(const struct row_writer *writer, enum top_view_style style,
		    const char *const texts[3], const char *start, unsigned start_width)
{
	bool is_utf8 = writer->top_view->is_utf8;
	unsigned width = row_writer__width(writer), process_width = 0;
	unsigned room = width > start_width + 4 ? width - start_width : 4;
	const char *name = texts[1], *place = texts[2];
	char process[PEN_LINE_SIZE / 2] = "", left[PEN_LINE_SIZE / 2];
	char right[PEN_LINE_SIZE / 2] = "", both[2 * PEN_TEXT_SIZE], line[2 * PEN_LINE_SIZE];

	if (has_process(writer)) {
		process_width = room / 3 < PROCESS_WIDTH ? room / 3 : PROCESS_WIDTH;
		terminal__cell(texts[0], process_width, false, is_utf8, process, sizeof(process));
		room -= process_width + 1;
	}
	if (is_of_processes(writer)) {
		terminal__cell(texts[0], room, false, is_utf8, left, sizeof(left));
	} else if (width < WIDTH_TIMES) {
		snprintf(both, sizeof(both), "%s%s%s", name, *place ? " " : "", place);
		terminal__cell(both, room, false, is_utf8, left, sizeof(left));
	} else {
		unsigned name_width = room * 2 / 5;

		terminal__cell(name, name_width, false, is_utf8, left, sizeof(left));
		terminal__cell(place, room - name_width - 1, true, is_utf8, right, sizeof(right));
	}
	snprintf(line, sizeof(line), "%s%s%s%s%s%s", start, process, *process ? " " : "", left,
		 *right ? " " : "", right);
	row_writer__put(writer, style, line);
}

void table__draw_head(const struct row_writer *writer)
{
	static const char *const names[][LISTING_COLUMNS] = {
		{"self%", "total%", "self", "total", "function"},
		{"cpu%", "script%", "time", "samples", "process"}};
	const struct listing_page *page = listing__page(writer->top_view->listing);
	struct cells cells = {.count = "procs"};
	char heads[LISTING_COLUMNS][16], line[128];
	const char *texts[3] = {"process", heads[LISTING_NAME],
				row_writer__width(writer) < WIDTH_TIMES ? "" : "source"};
	unsigned width;

	for (unsigned column = 0; column < LISTING_COLUMNS; column++) {
		const char *mark = page->is_reversed ? "<" : ">";

		snprintf(heads[column], sizeof(heads[column]), "%s%s",
			 column == page->column ? mark : "",
			 names[is_of_processes(writer)][column]);
		if (column < LISTING_NAME)
			memcpy(cells.texts[column], heads[column], sizeof(heads[column]));
	}
	if (is_of_processes(writer))
		texts[0] = heads[LISTING_NAME];
	width = begin_row(writer, &cells, line, sizeof(line));
	end_row(writer, PICTURE_HEAD, texts, line, width);
}

/* Shows "ended" instead of the shares of the last second. */
static void tell_end(struct cells *cells)
{
	snprintf(cells->texts[0], UNITS_SIZE, "ended");
	cells->texts[1][0] = '\0';
}

static void fill_function(const struct row_writer *writer, const struct stats_row *row,
			  bool has_ended, struct cells *cells)
{
	uint64_t elapsed_ns = function_stats__recent(writer->top_view->stats)->elapsed_ns;

	units__format_share(row->recent.self, elapsed_ns, cells->texts[0], UNITS_SIZE);
	units__format_share(row->recent.total, elapsed_ns, cells->texts[1], UNITS_SIZE);
	if (has_ended && !row->recent.total)
		tell_end(cells);
	format_time(row->all.self, cells->texts[2], UNITS_SIZE);
	format_time(row->all.total, cells->texts[3], UNITS_SIZE);
}

static void fill_process(const struct row_writer *writer, const struct stats_process *process,
			 struct cells *cells)
{
	uint64_t elapsed_ns = function_stats__recent(writer->top_view->stats)->elapsed_ns;

	units__format_share(process->recent_ns, elapsed_ns, cells->texts[0], UNITS_SIZE);
	if (process->has_ended && !process->recent_ns)
		tell_end(cells);
	units__format_share(process->script_ns, process->weight_ns, cells->texts[1], UNITS_SIZE);
	format_time(process->all_ns, cells->texts[2], UNITS_SIZE);
	units__format_count(process->samples, cells->texts[3], UNITS_SIZE);
	snprintf(cells->count, sizeof(cells->count), "%" PRIu32, process->living);
}

/* A merged row has no PID that could be put first. */
static void make_process_text(const struct row_writer *writer, const struct stats_process *process,
			      char *to, size_t size)
{
	const char *name = process->name ? process->name : "";
	char brief[PEN_TEXT_SIZE];

	snprintf(brief, sizeof(brief), "%s", name);
	if (has_process(writer) && !writer->top_view->is_merged)
		container__short_title(name, brief, sizeof(brief));
	row_writer__make_printable(writer, brief, to, size);
}

void table__draw_row(const struct row_writer *writer, uint32_t at)
{
	const struct top_view *top_view = writer->top_view;
	const struct listing *listing = top_view->listing;
	const struct stats_process *process = listing__process(listing, at);
	struct cells cells = {};
	char raw[PEN_TEXT_SIZE], name[PEN_TEXT_SIZE] = "", place[PEN_TEXT_SIZE] = "";
	char process_text[PEN_TEXT_SIZE], line[128];
	const char *const texts[3] = {process_text, name, place};
	enum top_view_style style = process->has_ended ? PICTURE_GONE : PICTURE_PLAIN;
	unsigned width;

	make_process_text(writer, process, process_text, sizeof(process_text));
	if (is_of_processes(writer)) {
		fill_process(writer, process, &cells);
	} else {
		const struct stats_row *row = listing__row(listing, at);

		fill_function(writer, row, process->has_ended, &cells);
		row_writer__make_printable(writer, listing__name(row), name,
					   sizeof(name) - sizeof(NATIVE));
		if (row->is_native)
			strcat(name, NATIVE);
		listing__place(row, raw, sizeof(raw));
		row_writer__make_printable(writer, raw, place, sizeof(place));
	}
	if (listing__is_found(listing, at))
		style = PICTURE_FOUND;
	if (at == listing__page(listing)->cursor)
		style = PICTURE_CURSOR;
	width = begin_row(writer, &cells, line, sizeof(line));
	end_row(writer, style, texts, line, width);
}
