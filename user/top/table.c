/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "container.h"
#include "terminal.h"
#include "units.h"

#define NS_PER_S      UINT64_C(1000000000)
#define WIDTH_TIMES   64  /* below it, the table has only what it is sorted by */
#define WIDTH_MANY    100 /* likewise, where functions have a process */
#define PROCESS_WIDTH 28  /* of that, at most */

/* Columns before the name, as text. */
struct cells {
	char texts[LISTING_NAME][UNITS_SIZE];
	char count[16]; /* of processes that are one row */
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

static bool is_of_processes(const struct pen *pen)
{
	return pen->picture->listing->view == LISTING_PROCESSES;
}

/* Whether functions have a process beside them. */
static bool has_process(const struct pen *pen)
{
	return tally__is_of_many(pen->picture->tally) &&
	       pen->picture->listing->view == LISTING_FUNCTIONS;
}

static bool has_both_pairs(const struct pen *pen)
{
	return pen__width(pen) >= (has_process(pen) ? WIDTH_MANY : WIDTH_TIMES);
}

/* Whether the pair of columns is shown: the last second's, or all. */
static bool shows(const struct pen *pen, bool is_recent)
{
	enum listing_column column = listing__page(pen->picture->listing)->column;

	if (has_both_pairs(pen))
		return true;
	return is_recent != (column == LISTING_SELF || column == LISTING_TOTAL);
}

/* What stands before the name, in `line`, which is long enough; its columns. */
static unsigned begin_row(const struct pen *pen, const struct cells *cells, char *line, size_t size)
{
	size_t used = 0;

	line[0] = '\0';
	if (is_of_processes(pen) && pen->picture->is_merged)
		used += (size_t)snprintf(line + used, size - used, "%5s ", cells->count);
	if (shows(pen, true))
		used += (size_t)snprintf(line + used, size - used, "%7s %7s ", cells->texts[0],
					 cells->texts[1]);
	if (shows(pen, false))
		used += (size_t)snprintf(line + used, size - used, "%8s %8s ", cells->texts[2],
					 cells->texts[3]);
	used += (size_t)snprintf(line + used, size - used, " ");
	return (unsigned)used;
}

/* The process, the name and the place after what begin_row() wrote; "" for what there is not. */
static void end_row(const struct pen *pen, enum picture_style style, const char *const texts[3],
		    const char *start, unsigned start_width)
{
	bool is_utf8 = pen->picture->is_utf8;
	unsigned width = pen__width(pen), process_width = 0;
	unsigned room = width > start_width + 4 ? width - start_width : 4;
	const char *name = texts[1], *place = texts[2];
	char process[PEN_LINE_SIZE / 2] = "", left[PEN_LINE_SIZE / 2];
	char right[PEN_LINE_SIZE / 2] = "", both[2 * PEN_TEXT_SIZE], line[2 * PEN_LINE_SIZE];

	if (has_process(pen)) {
		process_width = room / 3 < PROCESS_WIDTH ? room / 3 : PROCESS_WIDTH;
		terminal__cell(texts[0], process_width, false, is_utf8, process, sizeof(process));
		room -= process_width + 1;
	}
	if (is_of_processes(pen)) {
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
	pen__put(pen, style, line);
}

void table__draw_head(const struct pen *pen)
{
	static const char *const names[][LISTING_COLUMNS] = {
		{"self%", "total%", "self", "total", "function"},
		{"cpu%", "script%", "time", "samples", "process"}};
	const struct listing_page *page = listing__page(pen->picture->listing);
	struct cells cells = {.count = "procs"};
	char heads[LISTING_COLUMNS][16], line[128];
	const char *texts[3] = {"process", heads[LISTING_NAME],
				pen__width(pen) < WIDTH_TIMES ? "" : "source"};
	unsigned width;

	for (unsigned column = 0; column < LISTING_COLUMNS; column++) {
		const char *mark = page->is_reversed ? "<" : ">";

		snprintf(heads[column], sizeof(heads[column]), "%s%s",
			 column == page->column ? mark : "", names[is_of_processes(pen)][column]);
		if (column < LISTING_NAME)
			memcpy(cells.texts[column], heads[column], sizeof(heads[column]));
	}
	if (is_of_processes(pen))
		texts[0] = heads[LISTING_NAME];
	width = begin_row(pen, &cells, line, sizeof(line));
	end_row(pen, PICTURE_HEAD, texts, line, width);
}

/* In the place of what it did in the last second. */
static void tell_end(struct cells *cells)
{
	snprintf(cells->texts[0], UNITS_SIZE, "ended");
	cells->texts[1][0] = '\0';
}

static void fill_function(const struct pen *pen, const struct tally_row *row, bool has_ended,
			  struct cells *cells)
{
	uint64_t elapsed_ns = tally__recent(pen->picture->tally)->elapsed_ns;

	units__format_share(row->recent.self, elapsed_ns, cells->texts[0], UNITS_SIZE);
	units__format_share(row->recent.total, elapsed_ns, cells->texts[1], UNITS_SIZE);
	if (has_ended && !row->recent.total)
		tell_end(cells);
	format_time(row->all.self, cells->texts[2], UNITS_SIZE);
	format_time(row->all.total, cells->texts[3], UNITS_SIZE);
}

static void fill_process(const struct pen *pen, const struct tally_process *process,
			 struct cells *cells)
{
	uint64_t elapsed_ns = tally__recent(pen->picture->tally)->elapsed_ns;

	units__format_share(process->recent_ns, elapsed_ns, cells->texts[0], UNITS_SIZE);
	if (process->has_ended && !process->recent_ns)
		tell_end(cells);
	units__format_share(process->script_ns, process->weight_ns, cells->texts[1], UNITS_SIZE);
	format_time(process->all_ns, cells->texts[2], UNITS_SIZE);
	units__format_count(process->samples, cells->texts[3], UNITS_SIZE);
	snprintf(cells->count, sizeof(cells->count), "%" PRIu32, process->living);
}

/* Those that are one have no number to be put first. */
static void make_process_text(const struct pen *pen, const struct tally_process *process, char *to,
			      size_t size)
{
	const char *name = process->name ? process->name : "";
	char brief[PEN_TEXT_SIZE];

	snprintf(brief, sizeof(brief), "%s", name);
	if (has_process(pen) && !pen->picture->is_merged)
		container__short_title(name, brief, sizeof(brief));
	pen__make_printable(pen, brief, to, size);
}

void table__draw_row(const struct pen *pen, uint32_t at)
{
	const struct picture *picture = pen->picture;
	const struct listing *listing = picture->listing;
	const struct tally_process *process = listing__process(listing, at);
	struct cells cells = {};
	char raw[PEN_TEXT_SIZE], name[PEN_TEXT_SIZE] = "", place[PEN_TEXT_SIZE] = "";
	char process_text[PEN_TEXT_SIZE], line[128];
	const char *const texts[3] = {process_text, name, place};
	enum picture_style style = process->has_ended ? PICTURE_GONE : PICTURE_PLAIN;
	unsigned width;

	make_process_text(pen, process, process_text, sizeof(process_text));
	if (is_of_processes(pen)) {
		fill_process(pen, process, &cells);
	} else {
		const struct tally_row *row = listing__row(listing, at);

		fill_function(pen, row, process->has_ended, &cells);
		pen__make_printable(pen, listing__name(row), name, sizeof(name));
		listing__place(row, raw, sizeof(raw));
		pen__make_printable(pen, raw, place, sizeof(place));
	}
	if (listing__is_found(listing, at))
		style = PICTURE_FOUND;
	if (at == listing__page(listing)->cursor)
		style = PICTURE_CURSOR;
	width = begin_row(pen, &cells, line, sizeof(line));
	end_row(pen, style, texts, line, width);
}
