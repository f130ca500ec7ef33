/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/hottest_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "summary/accounting.h"
#include "summary/function_label.h"
#include "summary/function_processes.h"
#include "summary/process_table.h"

#define WIDTH_BARS  64 /* narrower tables have no totals, bars and hot lines */
#define WIDTH_TIMES 48 /* these no times either */
#define LINE_SIZE   (FUNCTION_LABEL_SIZE + 512)
#define TOP_COUNT   10
#define BAR_COLUMNS 8 /* or half of that, if names or lines need the room */
#define BAR_SIZE    (BAR_COLUMNS * sizeof("\u2588"))
#define SUMS_MOST   (4U << 20) /* times of functions in categories that are added up */
#define ROOM_LEAST  20         /* columns for the name and the source */

/*
 * Columns of the name and the source that a process may not take, and those that it needs. Where
 * rows need more than there are, their labels are cut, and the process has the usual columns.
 */
#define LABEL_NAME    20
#define LABEL_SOURCE  16
#define LABEL_LEAST   30
#define PROCESS_LEAST 8
#define PROCESS_USUAL 12

/* Columns of names, at least; beside processes, if there are such names: "table.concat". */
#define NAME_LEAST 8
#define NAME_USUAL 12

/* What is printed, and how. */
struct table {
	const struct printer *printer;
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	const struct row_choice *choice;
	const struct category_words *words;
	uint32_t *functions; /* in order */
	uint32_t count;
	struct function_process *processes; /* of each, if there are several; else NULL */
};

/* One row of the table of functions, its cells ready to print. */
struct row {
	char self[UNITS_SIZE], time[UNITS_SIZE], total[UNITS_SIZE];
	struct function_label label;
	uint64_t bar_us;
};

struct columns {
	unsigned time, name;
	unsigned process; /* 0: left out */
	unsigned bar;     /* likewise */
	unsigned room;    /* for the name and what follows it */
};

static const char *name_of(const struct ls_profile_function *function)
{
	return function->name && *function->name ? function->name : "<anonymous>";
}

/* Equal times are ordered by the other time, then by id, so that runs agree. For qsort_r(). */
static int compare(const void *left, const void *right, void *context)
{
	const struct table *table = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *self = table->totals->function_self_us;
	const uint64_t *total = table->totals->function_total_us;
	const uint64_t *first = table->choice->order == ROW_ORDER_TOTAL ? total : self;
	const uint64_t *second = first == total ? self : total;
	int order = 0;

	if (table->choice->order == ROW_ORDER_NAME)
		order = strcmp(name_of(&table->profile->functions[a]),
			       name_of(&table->profile->functions[b]));
	if (!order)
		order = (first[a] < first[b]) - (first[a] > first[b]);
	if (!order)
		order = (second[a] < second[b]) - (second[a] > second[b]);
	return order ? order : (a > b) - (a < b);
}

/* Functions without self time are left out of the hottest ones, unless something else is asked. */
static bool needs_self_time(const struct row_choice *choice)
{
	return choice->order == ROW_ORDER_SELF && !choice->least_us && !choice->hidden;
}

static bool is_chosen(const struct table *table, uint32_t id)
{
	const struct row_choice *choice = table->choice;
	uint64_t total_us = table->totals->function_total_us[id];

	if (profile__is_pseudo(&table->profile->functions[id]) ||
	    (choice->hidden && choice->hidden[id]))
		return false;
	if (needs_self_time(choice) && !table->totals->function_self_us[id])
		return false;
	return total_us >= choice->least_us && total_us;
}

static int choose(struct table *table)
{
	uint32_t most = table->profile->function_count;

	table->functions = calloc((size_t)most + 1, sizeof(*table->functions));
	if (!table->functions)
		return -ENOMEM;
	for (uint32_t id = 1; id <= most; id++)
		if (is_chosen(table, id))
			table->functions[table->count++] = id;
	qsort_r(table->functions, table->count, sizeof(*table->functions), compare, table);
	if (table->count > table->choice->limit)
		table->count = table->choice->limit;
	return 0;
}

static void fill_row(const struct table *table, uint32_t id, struct row *row)
{
	const struct printer *printer = table->printer;
	const struct ls_totals *totals = table->totals;
	uint64_t self_us = totals->function_self_us[id], total_us = totals->function_total_us[id];

	row->bar_us = table->choice->order == ROW_ORDER_TOTAL ? total_us : self_us;
	units__format_share(self_us, totals->all_us, row->self, sizeof(row->self));
	printer__format_time(printer, row->bar_us, row->time, sizeof(row->time));
	units__format_share(total_us, totals->all_us, row->total, sizeof(row->total));
	function_label__make(&table->profile->functions[id], &row->label);
	if (printer->width >= WIDTH_BARS)
		function_label__add_hot_line(table->profile, totals, id, printer->utf8,
					     &row->label);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static int compare_widths(const void *left, const void *right)
{
	unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;

	return (a < b) - (a > b);
}

/* What is before the name, without the process. */
static unsigned fixed_columns(const struct printer *printer, const struct columns *columns)
{
	unsigned fixed = 2 + 2 + 2 + 6 + 2;

	fixed += printer->width >= WIDTH_TIMES ? columns->time + 2 : 0;
	fixed += printer->width >= WIDTH_BARS ? 6 + 2 : 0;
	return fixed + (columns->bar ? columns->bar + 2 : 0);
}

/* Columns that a row needs for a moderate name, the end of the place, and all of the hot line. */
static unsigned needed_columns(const struct function_label *label)
{
	unsigned name = terminal__width(label->name), source = terminal__width(label->source);
	unsigned lines = function_label__place_width(label) - source;

	return least(name, LABEL_NAME) + 2 + least(source, LABEL_SOURCE) + lines;
}

/* What the rows need, all of them and the widest. */
struct needs {
	unsigned *names; /* widths, the widest first */
	unsigned time, places;
	unsigned label; /* needed_columns() */
	unsigned process;
};

static int measure(const struct table *table, struct needs *needs)
{
	struct row row;

	*needs = (struct needs){.time = 4, .process = PROCESS_LEAST};
	needs->names = calloc((size_t)table->count + 1, sizeof(*needs->names));
	if (!needs->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->count; i++) {
		fill_row(table, table->functions[i], &row);
		needs->names[i] = terminal__width(row.label.name);
		needs->time = most(needs->time, terminal__width(row.time));
		needs->places = most(needs->places, function_label__place_width(&row.label));
		needs->label = most(needs->label, needed_columns(&row.label));
		if (table->processes)
			needs->process =
				most(needs->process,
				     function_process__width(table->profile, &table->processes[i]));
	}
	qsort(needs->names, table->count, sizeof(*needs->names), compare_widths);
	return 0;
}

/* Halves the bars if a row needs more columns than the table has. */
static void place_bars(const struct printer *printer, const struct needs *needs,
		       struct columns *columns)
{
	columns->bar = printer->width >= WIDTH_BARS ? BAR_COLUMNS : 0;
	if (needs->label + fixed_columns(printer, columns) > printer->width)
		columns->bar /= 2;
}

/*
 * The process gets what the functions leave, and the columns of the bars if that is not enough. One
 * long row does not cost the others the column.
 */
static void place_process(const struct printer *printer, const struct needs *needs,
			  struct columns *columns)
{
	unsigned fixed = fixed_columns(printer, columns) + 2;
	unsigned bars = columns->bar ? columns->bar + 2 : 0, left;

	if (fixed + needs->label + needs->process <= printer->width) {
		columns->process = needs->process;
		return;
	}
	fixed -= bars;
	if (fixed + needs->label + PROCESS_LEAST <= printer->width)
		left = printer->width - fixed - needs->label;
	else if (fixed + LABEL_LEAST + PROCESS_USUAL <= printer->width)
		left = PROCESS_USUAL;
	else
		return;
	columns->bar = 0;
	columns->process = least(needs->process, left);
}

/*
 * Makes the column of names as wide as most of them are (all but one of four), up to their share of
 * the room, and wider where that takes no room from any row. Longer names take what their own row
 * has left.
 */
static int find_columns(const struct table *table, struct columns *columns)
{
	const struct printer *printer = table->printer;
	struct needs needs;
	unsigned fixed, left, usual;
	int error = measure(table, &needs);

	if (error)
		return error;
	*columns = (struct columns){.time = needs.time, .name = NAME_LEAST};
	place_bars(printer, &needs, columns);
	if (table->processes)
		place_process(printer, &needs, columns);
	fixed = fixed_columns(printer, columns) + (columns->process ? columns->process + 2 : 0);
	columns->room = printer->width > fixed + ROOM_LEAST ? printer->width - fixed : ROOM_LEAST;
	usual = least(needs.names[(table->count + 1) / 4], columns->room * 2 / 5);
	usual = columns->process ? most(usual, NAME_USUAL) : usual;
	left = columns->room > needs.places + 2 ? columns->room - needs.places - 2 : 0;
	columns->name = most(columns->name, least(needs.names[0], most(left, usual)));
	free(needs.names);
	return 0;
}

/*
 * Formats a bar of at most `room` columns, which stand for `most`, in eighths of a column if the
 * printer has UTF-8.
 */
static void format_bar(const struct printer *printer, unsigned room, uint64_t value, uint64_t most,
		       char *to, size_t size)
{
	static const char *const parts[] = {"",       "\u258f", "\u258e", "\u258d",
					    "\u258c", "\u258b", "\u258a", "\u2589"};
	unsigned eighths = (unsigned)((value * room * 8 + most / 2) / most);
	unsigned columns = 0;

	to[0] = '\0';
	if (!printer->utf8)
		eighths = (eighths + 4) / 8 * 8;
	for (; columns < eighths / 8 && columns < room; columns++)
		strncat(to, printer->utf8 ? "\u2588" : "#", size - strlen(to) - 1);
	if (eighths % 8 && columns++ < room)
		strncat(to, parts[eighths % 8], size - strlen(to) - 1);
}

/* The cells of a row, as text. */
struct cells {
	const char *rank, *self, *time, *total, *bar, *process, *rest;
};

/* Narrow tables lack some. */
static void put_line(const struct printer *printer, const struct columns *columns,
		     const struct cells *cells, enum printer_style style)
{
	char line[LINE_SIZE], times[UNITS_SIZE + 16] = "", totals[UNITS_SIZE + 8] = "";
	char bars[BAR_SIZE + BAR_COLUMNS + 8] = "", process[PRINTER_TEXT_SIZE] = "";

	if (printer->width >= WIDTH_TIMES)
		snprintf(times, sizeof(times), "  %*s", (int)columns->time, cells->time);
	if (printer->width >= WIDTH_BARS)
		snprintf(totals, sizeof(totals), "  %6s", cells->total);
	if (columns->bar)
		snprintf(bars, sizeof(bars), "  %s%*s", cells->bar,
			 (int)(columns->bar - terminal__width(cells->bar)), "");
	if (columns->process) {
		strcpy(process, "  ");
		terminal__cell(cells->process, columns->process, false, printer->utf8, process + 2,
			       sizeof(process) - 2);
	}
	snprintf(line, sizeof(line), "%4s  %6s%s%s%s%s  %s", cells->rank, cells->self, times,
		 totals, bars, process, cells->rest);
	printer__styled(printer, style, line);
}

static void put_head(const struct table *table, const struct columns *columns)
{
	char rest[UNITS_SIZE + PRINTER_TEXT_SIZE];

	snprintf(rest, sizeof(rest), "%-*s  source", (int)columns->name, "function");
	put_line(table->printer, columns,
		 &(struct cells){"", "self", "time", "total", "", table->words->one, rest},
		 PRINTER_PLAIN);
}

static void put_row(const struct table *table, const struct columns *columns, uint32_t index,
		    uint64_t most_us)
{
	char text[FUNCTION_LABEL_SIZE], process[PRINTER_TEXT_SIZE] = "";
	char bar[BAR_SIZE], number[UNITS_SIZE];
	const struct printer *printer = table->printer;
	struct row row;

	fill_row(table, table->functions[index], &row);
	snprintf(number, sizeof(number), "%u", index + 1);
	format_bar(printer, columns->bar, row.bar_us, most_us ? most_us : 1, bar, sizeof(bar));
	if (columns->process && table->totals->function_self_us[table->functions[index]])
		function_process__fit(table->profile, &table->processes[index], columns->process,
				      printer->utf8, process, sizeof(process));
	function_label__fit(&row.label, columns->room, columns->name, printer->utf8, text,
			    sizeof(text));
	put_line(printer, columns,
		 &(struct cells){number, row.self, row.time, row.total, bar, process, text},
		 printer__heat(row.bar_us, table->totals->all_us));
}

int hottest_functions__choose(const struct ls_profile *profile, const struct ls_totals *totals,
			      const struct row_choice *choice, uint32_t **functions,
			      uint32_t *count)
{
	struct table table = {.profile = profile, .totals = totals, .choice = choice};
	int error = choose(&table);

	*functions = table.functions;
	*count = table.count;
	return error;
}

uint32_t hottest_functions__first(const struct ls_profile *profile, const struct ls_totals *totals)
{
	const uint64_t *self = totals->function_self_us, *total = totals->function_total_us;
	uint32_t first = 0;

	for (uint32_t id = 1; id <= profile->function_count; id++)
		if (!profile__is_pseudo(&profile->functions[id]) && self[id] &&
		    (!first || self[id] > self[first] ||
		     (self[id] == self[first] && total[id] > total[first])))
			first = id;
	return first;
}

/* Of several categories. Without memory to find them, the column is left out. */
static void find_processes(struct table *table)
{
	if (!process_table__tells(table->profile, table->totals, table->words) ||
	    (uint64_t)table->profile->category_count * table->count > SUMS_MOST)
		return;
	table->processes = calloc((size_t)table->count + 1, sizeof(*table->processes));
	if (table->processes &&
	    !function_processes__find(table->profile, table->totals, table->functions, table->count,
				      table->processes))
		return;
	free(table->processes);
	table->processes = NULL;
}

static void put_rows(const struct table *table, const struct columns *columns)
{
	uint64_t most_us = 0;
	struct row row;

	for (uint32_t i = 0; i < table->count; i++) {
		fill_row(table, table->functions[i], &row);
		most_us = row.bar_us > most_us ? row.bar_us : most_us;
	}
	put_head(table, columns);
	for (uint32_t i = 0; i < table->count; i++)
		put_row(table, columns, i, most_us);
}

int hottest_functions__print_chosen(const struct printer *printer, const struct ls_profile *profile,
				    const struct ls_totals *totals,
				    const struct category_words *words,
				    const struct row_choice *choice, const char *title)
{
	struct table table = {.printer = printer,
			      .profile = profile,
			      .totals = totals,
			      .choice = choice,
			      .words = words};
	struct columns columns;
	int error = choose(&table);

	if (!error && table.count) {
		find_processes(&table);
		error = find_columns(&table, &columns);
	}
	if (!error)
		printer__styled(printer, PRINTER_TITLE, title);
	if (!error && table.count)
		put_rows(&table, &columns);
	free(table.processes);
	free(table.functions);
	return error;
}

void hottest_functions__print(const struct printer *printer, const struct ls_profile *profile,
			      const struct ls_totals *totals, const struct category_words *words)
{
	const struct row_choice choice = {.order = ROW_ORDER_SELF, .limit = TOP_COUNT};

	printer__line(printer, "");
	if (hottest_functions__print_chosen(printer, profile, totals, words, &choice,
					    "Hottest functions, by self time"))
		printer__line(printer, "Hottest functions: out of memory");
	else if (!hottest_functions__first(profile, totals))
		printer__line(printer, accounting__unselected_us(profile, totals)
					       ? "  none: script ran in other coroutines only"
					       : "  none: no sample has script on its stack");
}
