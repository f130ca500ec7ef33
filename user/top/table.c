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
#define PLUGIN        " <plugin>"
#define WIDTH_TIMES   64  /* below it, only the pair of columns sorted by is shown */
#define WIDTH_CALLS   76  /* likewise, for callers and callees */
#define WIDTH_MANY    100 /* likewise, if functions are shown with their process */
#define PROCESS_WIDTH 28  /* of the process column, at most */

/* Columns before the name, as text. */
struct cells {
	char texts[LISTING_NAME][UNITS_SIZE];
	char count[16]; /* of processes in this row */
	char role[16];  /* of a caller or callee */
};

/* "123.45s", "123m05s", "123h05m": eight columns. */
static const char *format_seconds(uint64_t ns, char *to, size_t size)
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

/* A time since the start or reset, or its average by Roblox's rule: per span of the wall clock. */
static const char *format_time(const struct row_writer *writer, uint64_t ns, char *to)
{
	uint32_t span_s = writer->top_view->listing->average_s;
	uint64_t elapsed_ns = function_stats__all(writer->top_view->stats)->elapsed_ns;

	if (!span_s)
		return format_seconds(ns, to, UNITS_SIZE);
	if (!elapsed_ns)
		return strcpy(to, "-");
	ns = (uint64_t)((unsigned __int128)ns * span_s * NS_PER_S / elapsed_ns);
	if (span_s > 1 || ns >= 100 * NS_PER_S)
		return format_seconds(ns, to, UNITS_SIZE);
	ns = (ns + NS_PER_S / 20000) / (NS_PER_S / 10000);
	snprintf(to, UNITS_SIZE, "%" PRIu64 ".%ums", ns / 10, (unsigned)(ns % 10));
	return to;
}

static bool is_of_calls(const struct row_writer *writer)
{
	return writer->top_view->listing->view == LISTING_CALLS;
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
	unsigned least = has_process(writer)   ? WIDTH_MANY
			 : is_of_calls(writer) ? WIDTH_CALLS
					       : WIDTH_TIMES;

	return row_writer__width(writer) >= least;
}

/*
 * Whether that pair of columns is shown: the last second's, or that since the start or reset, which
 * has the averages.
 */
static bool shows(const struct row_writer *writer, bool is_recent)
{
	enum listing_column column = listing__page(writer->top_view->listing)->column;

	if (has_both_pairs(writer))
		return true;
	if (writer->top_view->listing->average_s)
		return !is_recent;
	return is_recent != (column == LISTING_SELF || column == LISTING_TOTAL);
}

/* Writes the columns before the name to `line`, which is long enough. Returns their width. */
static unsigned begin_row(const struct row_writer *writer, const struct cells *cells, char *line,
			  size_t size)
{
	int width = writer->top_view->listing->average_s ? 10 : 8;
	size_t used = 0;

	line[0] = '\0';
	if (is_of_processes(writer) && writer->top_view->is_merged)
		used += (size_t)snprintf(line + used, size - used, "%5s ", cells->count);
	if (shows(writer, true))
		used += (size_t)snprintf(line + used, size - used, "%7s %7s ", cells->texts[0],
					 cells->texts[1]);
	if (shows(writer, false))
		used += (size_t)snprintf(line + used, size - used, "%*s %*s ", width,
					 cells->texts[2], width, cells->texts[3]);
	used += (size_t)snprintf(line + used, size - used, " %s", cells->role);
	return (unsigned)used;
}

/* The columns for the name. A name longer than its column takes what the place leaves free. */
static unsigned name_width(const char *name, const char *place, unsigned room)
{
	unsigned column = room * 2 / 5, wanted = terminal__width(name);
	unsigned taken = terminal__width(place) + 1, left = room > taken ? room - taken : 0;

	if (wanted <= column || left <= column)
		return column;
	return wanted < left ? wanted : left;
}

/* Appends `texts` to `start` and paints the row: the process, name and place, "" for none. */
static void end_row(const struct row_writer *writer, enum top_view_style style,
		    const char *const texts[3], const char *start, unsigned start_width)
{
	bool is_utf8 = writer->top_view->is_utf8;
	unsigned width = row_writer__width(writer), process_width = 0;
	unsigned room = width > start_width + 4 ? width - start_width : 4;
	const char *name = texts[1], *place = texts[2];
	char process[ROW_LINE_SIZE / 2] = "", left[ROW_LINE_SIZE / 2];
	char right[ROW_LINE_SIZE / 2] = "", both[2 * ROW_TEXT_SIZE], line[2 * ROW_LINE_SIZE];

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
		unsigned columns = name_width(name, place, room);

		terminal__cell(name, columns, false, is_utf8, left, sizeof(left));
		terminal__cell(place, room - columns - 1, true, is_utf8, right, sizeof(right));
	}
	snprintf(line, sizeof(line), "%s%s%s%s%s%s", start, process, *process ? " " : "", left,
		 *right ? " " : "", right);
	row_writer__put(writer, style, line);
}

/* Which row this is: callers above the function, and callees below it. */
static void fill_role(const struct row_writer *writer, enum stats_role role, struct cells *cells)
{
	static const char *const words[][2] = {[STATS_CALLER] = {"<- ", "caller "},
					       [STATS_CHOSEN] = {"", "       "},
					       [STATS_ITSELF] = {"   ", "       "},
					       [STATS_CALLEE] = {"-> ", "callee "}};

	snprintf(cells->role, sizeof(cells->role), "%s",
		 words[role][row_writer__width(writer) >= WIDTH_TIMES]);
}

/* Whether averages apply to that column. */
static bool is_time(enum listing_view view, unsigned column)
{
	return column == LISTING_SELF || (column == LISTING_TOTAL && (view == LISTING_FUNCTIONS ||
								      view == LISTING_ONE_PROCESS));
}

void table__draw_head(const struct row_writer *writer)
{
	static const char *const names[][LISTING_COLUMNS] = {
		[LISTING_FUNCTIONS] = {"self%", "total%", "self", "total", "function"},
		[LISTING_PROCESSES] = {"cpu%", "script%", "time", "samples", "process"},
		[LISTING_ONE_PROCESS] = {"self%", "total%", "self", "total", "function"},
		[LISTING_CALLS] = {"cpu%", "share%", "time", "share", "function"}};
	const struct listing *listing = writer->top_view->listing;
	const struct listing_page *page = listing__page(listing);
	struct cells cells = {.count = "procs"};
	char heads[LISTING_COLUMNS][16], line[128], span[8];
	const char *texts[3] = {"process", heads[LISTING_NAME],
				row_writer__width(writer) < WIDTH_TIMES ? "" : "source"};
	unsigned width;

	if (is_of_calls(writer))
		fill_role(writer, STATS_CHOSEN, &cells);
	for (unsigned column = 0; column < LISTING_COLUMNS; column++) {
		const char *mark = page->is_reversed ? "<" : ">";

		snprintf(heads[column], sizeof(heads[column]), "%s%s%s",
			 column == page->column ? mark : "", names[listing->view][column],
			 is_time(listing->view, column)
				 ? listing__format_average(listing, "/", span, sizeof(span))
				 : "");
		if (column < LISTING_NAME)
			memcpy(cells.texts[column], heads[column], sizeof(heads[column]));
	}
	if (is_of_processes(writer))
		texts[0] = heads[LISTING_NAME];
	width = begin_row(writer, &cells, line, sizeof(line));
	end_row(writer, STYLE_HEAD, texts, line, width);
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
	format_time(writer, row->all.self, cells->texts[2]);
	format_time(writer, row->all.total, cells->texts[3]);
}

/* Shares are of the function's own time, in the same span. */
static void fill_call(const struct row_writer *writer, const struct stats_row *row,
		      struct cells *cells)
{
	const struct function_stats *stats = writer->top_view->stats;
	const struct stats_row *chosen = function_calls__chosen(stats);
	uint64_t elapsed_ns = function_calls__recent_ns(stats);

	units__format_share(row->recent.total, elapsed_ns, cells->texts[0], UNITS_SIZE);
	units__format_share(row->recent.total, elapsed_ns ? chosen->recent.total : 0,
			    cells->texts[1], UNITS_SIZE);
	format_time(writer, row->all.total, cells->texts[2]);
	units__format_share(row->all.total, chosen->all.total, cells->texts[3], UNITS_SIZE);
	fill_role(writer, row->role, cells);
}

static void fill_process(const struct row_writer *writer, const struct stats_process *process,
			 struct cells *cells)
{
	uint64_t elapsed_ns = function_stats__recent(writer->top_view->stats)->elapsed_ns;

	units__format_share(process->recent_ns, elapsed_ns, cells->texts[0], UNITS_SIZE);
	if (process->has_ended && !process->recent_ns)
		tell_end(cells);
	units__format_share(process->script_ns, process->weight_ns, cells->texts[1], UNITS_SIZE);
	format_time(writer, process->all_ns, cells->texts[2]);
	units__format_count(process->samples, cells->texts[3], UNITS_SIZE);
	snprintf(cells->count, sizeof(cells->count), "%" PRIu32, process->living);
}

/* A merged row has no PID that could be put first. */
static void make_process_text(const struct row_writer *writer, const struct stats_process *process,
			      char *to, size_t size)
{
	const char *name = process->name ? process->name : "";
	char brief[ROW_TEXT_SIZE];

	snprintf(brief, sizeof(brief), "%s", name);
	if (has_process(writer) && !writer->top_view->is_merged)
		container__short_title(name, brief, sizeof(brief));
	row_writer__make_printable(writer, brief, to, size);
}

/* The name of a function and its place, as shown. Both have room for ROW_TEXT_SIZE bytes. */
static void make_function_text(const struct row_writer *writer, const struct stats_row *row,
			       char *name, char *place)
{
	bool is_itself = is_of_calls(writer) && row->role == STATS_ITSELF;
	char raw[ROW_TEXT_SIZE];

	row_writer__make_printable(writer, is_itself ? "(self)" : listing__name(row), name,
				   ROW_TEXT_SIZE - sizeof(NATIVE) - sizeof(PLUGIN));
	if (is_itself)
		return;
	if (row->is_plugin)
		strcat(name, PLUGIN);
	if (row->is_native)
		strcat(name, NATIVE);
	listing__place(row, raw, sizeof(raw));
	row_writer__make_printable(writer, raw, place, ROW_TEXT_SIZE);
}

/* Also stores its process, "" if it has none. Returns the style. */
static enum top_view_style fill_row(const struct row_writer *writer, uint32_t at, char *process,
				    struct cells *cells)
{
	const struct listing *listing = writer->top_view->listing;
	const struct stats_process *of;

	if (is_of_calls(writer)) {
		const struct stats_row *row = listing__row(listing, at);

		fill_call(writer, row, cells);
		return row->role == STATS_CHOSEN ? STYLE_TITLE : STYLE_PLAIN;
	}
	of = listing__process(listing, at);
	make_process_text(writer, of, process, ROW_TEXT_SIZE);
	if (is_of_processes(writer))
		fill_process(writer, of, cells);
	else
		fill_function(writer, listing__row(listing, at), of->has_ended, cells);
	return of->has_ended ? STYLE_GONE : STYLE_PLAIN;
}

void table__draw_row(const struct row_writer *writer, uint32_t at)
{
	const struct listing *listing = writer->top_view->listing;
	struct cells cells = {};
	char name[ROW_TEXT_SIZE] = "", place[ROW_TEXT_SIZE] = "", process[ROW_TEXT_SIZE] = "";
	char line[128];
	const char *const texts[3] = {process, name, place};
	enum top_view_style style = fill_row(writer, at, process, &cells);
	unsigned width;

	if (!is_of_processes(writer))
		make_function_text(writer, listing__row(listing, at), name, place);
	if (listing__is_found(listing, at))
		style = STYLE_FOUND;
	if (at == listing__page(listing)->cursor)
		style = STYLE_CURSOR;
	width = begin_row(writer, &cells, line, sizeof(line));
	end_row(writer, style, texts, line, width);
}
