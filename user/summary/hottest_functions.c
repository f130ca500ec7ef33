/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/hottest_functions.h"

#include <inttypes.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "summary/function_label.h"
#include "summary/function_processes.h"

#define NS_PER_US   UINT64_C(1000)
#define WIDTH_BARS  64 /* narrower tables have no totals, bars and hot lines */
#define WIDTH_TIMES 48 /* these no times either */
#define LINE_SIZE   (FUNCTION_LABEL_SIZE + 512)
#define TOP_COUNT   10
#define BAR_COLUMNS 8
#define NO_BAR      "        "
#define BAR_SIZE    (BAR_COLUMNS * sizeof("\u2588"))
#define ROOM_LEAST  20 /* columns for the name and the source */

/* Columns that a process may not take, and those that it needs. */
#define LABEL_NAME    20
#define LABEL_SOURCE  16
#define PROCESS_LEAST 8

struct top {
	uint32_t functions[TOP_COUNT];
	unsigned count;
};

/* One row of the table of functions, its cells ready to print. */
struct row {
	char self[UNITS_SIZE], time[UNITS_SIZE], total[UNITS_SIZE];
	struct function_label label;
	struct function_process process; /* of several; not set if there is one */
	uint64_t self_us;
};

struct columns {
	unsigned time, name;
	unsigned process; /* 0: left out */
	bool has_bars;
	unsigned room; /* for the name and what follows it */
};

/* Orders equal self times by total, then by id, so that runs agree. */
static bool is_hotter(const struct ls_totals *totals, uint32_t a, uint32_t b)
{
	if (totals->function_self_us[a] != totals->function_self_us[b])
		return totals->function_self_us[a] > totals->function_self_us[b];
	return totals->function_total_us[a] > totals->function_total_us[b];
}

static struct top find_top(const struct ls_profile *profile, const struct ls_totals *totals)
{
	struct top top = {.count = 0};

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		unsigned at = top.count;

		if (!profile->functions[id].source || !totals->function_self_us[id])
			continue;
		while (at && is_hotter(totals, id, top.functions[at - 1]))
			at--;
		if (at == TOP_COUNT)
			continue;
		if (top.count < TOP_COUNT)
			top.count++;
		memmove(&top.functions[at + 1], &top.functions[at],
			(top.count - at - 1) * sizeof(top.functions[0]));
		top.functions[at] = id;
	}
	return top;
}

static void fill_row(const struct printer *printer, const struct ls_profile *profile,
		     const struct ls_totals *totals, uint32_t id, struct row *row)
{
	row->self_us = totals->function_self_us[id];
	units__format_share(row->self_us, totals->all_us, row->self, sizeof(row->self));
	units__format_time(row->self_us * NS_PER_US, row->time, sizeof(row->time));
	units__format_share(totals->function_total_us[id], totals->all_us, row->total,
			    sizeof(row->total));
	function_label__make(&profile->functions[id], &row->label);
	if (printer->width >= WIDTH_BARS)
		function_label__add_hot_line(profile, totals, id, printer->utf8, &row->label);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* The widest name but for a few that are longer than the rest: one of four rows. */
static unsigned usual_name(const struct row *rows, unsigned count)
{
	unsigned widths[TOP_COUNT], sorted = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned width = terminal__width(rows[i].label.name), at = sorted++;

		for (; at && widths[at - 1] < width; at--)
			widths[at] = widths[at - 1];
		widths[at] = width;
	}
	return widths[(count + 1) / 4];
}

/* What is before the name, without the process. */
static unsigned fixed_columns(const struct printer *printer, const struct columns *columns)
{
	unsigned fixed = 2 + 2 + 2 + 6 + 2;

	fixed += printer->width >= WIDTH_TIMES ? columns->time + 2 : 0;
	fixed += printer->width >= WIDTH_BARS ? 6 + 2 : 0;
	return fixed + (columns->has_bars ? BAR_COLUMNS + 2 : 0);
}

/* Columns that a row needs for a moderate name, the end of the place, and all of the hot line. */
static unsigned needed_columns(const struct function_label *label)
{
	unsigned name = terminal__width(label->name), source = terminal__width(label->source);
	unsigned lines = function_label__place_width(label) - source;

	return least(name, LABEL_NAME) + 2 + least(source, LABEL_SOURCE) + lines;
}

/* The process gets what the functions leave, and the columns of the bars if that is not enough. */
static void place_process(const struct printer *printer, const struct ls_profile *profile,
			  const struct row *rows, unsigned count, struct columns *columns)
{
	unsigned wanted = PROCESS_LEAST, needed = 0, fixed = fixed_columns(printer, columns);
	unsigned bars = columns->has_bars ? BAR_COLUMNS + 2 : 0;

	for (unsigned i = 0; i < count; i++) {
		needed = most(needed, needed_columns(&rows[i].label));
		wanted = most(wanted, function_process__width(profile, &rows[i].process));
	}
	needed += fixed + 2;
	if (needed + wanted <= printer->width) {
		columns->process = wanted;
	} else if (needed + PROCESS_LEAST <= printer->width + bars) {
		columns->has_bars = false;
		columns->process = least(wanted, printer->width + bars - needed);
	}
}

/*
 * Makes the column of names as wide as most of them are, up to their share of the room, and wider
 * where that takes no room from any row. Longer names take what their own row has left. `named` has
 * the names of the processes; NULL: they are not shown.
 */
static struct columns find_columns(const struct printer *printer, const struct ls_profile *named,
				   const struct row *rows, unsigned count)
{
	struct columns columns = {.time = 4, .name = 8, .has_bars = printer->width >= WIDTH_BARS};
	unsigned fixed, names = 0, places = 0, left, usual;

	for (unsigned i = 0; i < count; i++) {
		columns.time = most(columns.time, terminal__width(rows[i].time));
		names = most(names, terminal__width(rows[i].label.name));
		places = most(places, function_label__place_width(&rows[i].label));
	}
	if (named)
		place_process(printer, named, rows, count, &columns);
	fixed = fixed_columns(printer, &columns) + (columns.process ? columns.process + 2 : 0);
	columns.room = printer->width > fixed + ROOM_LEAST ? printer->width - fixed : ROOM_LEAST;
	usual = least(usual_name(rows, count), columns.room * 2 / 5);
	left = columns.room > places + 2 ? columns.room - places - 2 : 0;
	columns.name = most(columns.name, least(names, most(left, usual)));
	return columns;
}

/* Formats a bar whose full length is `most`, in eighths of a column if the printer has UTF-8. */
static void format_bar(const struct printer *printer, uint64_t value, uint64_t most, char *to,
		       size_t size)
{
	static const char *const parts[] = {"",       "\u258f", "\u258e", "\u258d",
					    "\u258c", "\u258b", "\u258a", "\u2589"};
	unsigned eighths = (unsigned)((value * BAR_COLUMNS * 8 + most / 2) / most);
	unsigned columns = 0;

	to[0] = '\0';
	if (!printer->utf8)
		eighths = (eighths + 4) / 8 * 8;
	for (; columns < eighths / 8 && columns < BAR_COLUMNS; columns++)
		strncat(to, printer->utf8 ? "\u2588" : "#", size - strlen(to) - 1);
	if (eighths % 8 && columns++ < BAR_COLUMNS)
		strncat(to, parts[eighths % 8], size - strlen(to) - 1);
	for (; columns < BAR_COLUMNS; columns++)
		strncat(to, " ", size - strlen(to) - 1);
}

/* The cells of a row, as text. */
struct cells {
	const char *rank, *self, *time, *total, *bar, *process, *rest;
};

/* Narrow tables lack some. */
static void put_line(const struct printer *printer, const struct columns *columns,
		     const struct cells *cells)
{
	char line[LINE_SIZE], times[UNITS_SIZE + 16] = "", totals[UNITS_SIZE + 8] = "";
	char bars[BAR_SIZE + 8] = "", process[PRINTER_TEXT_SIZE] = "";

	if (printer->width >= WIDTH_TIMES)
		snprintf(times, sizeof(times), "  %*s", (int)columns->time, cells->time);
	if (printer->width >= WIDTH_BARS)
		snprintf(totals, sizeof(totals), "  %6s", cells->total);
	if (columns->has_bars)
		snprintf(bars, sizeof(bars), "  %s", cells->bar);
	if (columns->process) {
		strcpy(process, "  ");
		terminal__cell(cells->process, columns->process, false, printer->utf8, process + 2,
			       sizeof(process) - 2);
	}
	snprintf(line, sizeof(line), "  %2s  %6s%s%s%s%s  %s", cells->rank, cells->self, times,
		 totals, bars, process, cells->rest);
	printer__line(printer, line);
}

static void put_head(const struct printer *printer, const struct columns *columns,
		     const struct category_words *words)
{
	char rest[UNITS_SIZE + PRINTER_TEXT_SIZE];

	snprintf(rest, sizeof(rest), "%-*s  source", (int)columns->name, "function");
	put_line(printer, columns,
		 &(struct cells){"", "self", "time", "total", NO_BAR, words->one, rest});
}

static void put_row(const struct printer *printer, const struct ls_profile *profile,
		    const struct columns *columns, unsigned rank, const struct row *row,
		    uint64_t most_us)
{
	char text[FUNCTION_LABEL_SIZE], process[PRINTER_TEXT_SIZE] = "";
	char bar[BAR_SIZE], number[UNITS_SIZE];

	snprintf(number, sizeof(number), "%u", rank);
	format_bar(printer, row->self_us, most_us, bar, sizeof(bar));
	if (columns->process)
		function_process__fit(profile, &row->process, columns->process, printer->utf8,
				      process, sizeof(process));
	function_label__fit(&row->label, columns->room, columns->name, printer->utf8, text,
			    sizeof(text));
	put_line(printer, columns,
		 &(struct cells){number, row->self, row->time, row->total, bar, process, text});
}

uint32_t hottest_functions__first(const struct ls_profile *profile, const struct ls_totals *totals)
{
	struct top top = find_top(profile, totals);

	return top.count ? top.functions[0] : 0;
}

/* Whether there are several, and memory to find them. */
static bool fill_processes(const struct ls_profile *profile, const struct ls_totals *totals,
			   const struct top *top, struct row *rows)
{
	struct function_process found[TOP_COUNT];

	if (profile->category_count < 2 ||
	    function_processes__find(profile, totals, top->functions, top->count, found))
		return false;
	for (unsigned i = 0; i < top->count; i++)
		rows[i].process = found[i];
	return true;
}

void hottest_functions__print(const struct printer *printer, const struct ls_profile *profile,
			      const struct ls_totals *totals, const struct category_words *words)
{
	struct top top = find_top(profile, totals);
	struct row rows[TOP_COUNT];
	struct columns columns;
	bool has_processes;

	printer__line(printer, "");
	printer__line(printer, "Hottest functions, by self time");
	if (!top.count) {
		printer__line(printer, "  none: no script used CPU time");
		return;
	}
	for (unsigned i = 0; i < top.count; i++)
		fill_row(printer, profile, totals, top.functions[i], &rows[i]);
	has_processes = fill_processes(profile, totals, &top, rows);
	columns = find_columns(printer, has_processes ? profile : NULL, rows, top.count);
	put_head(printer, &columns, words);
	for (unsigned i = 0; i < top.count; i++)
		put_row(printer, profile, &columns, i + 1, &rows[i], rows[0].self_us);
}
