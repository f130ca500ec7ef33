/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hottest_functions.h"

#include <inttypes.h>
#include <string.h>

#include "log.h"
#include "terminal.h"
#include "units.h"

#define NS_PER_US    UINT64_C(1000)
#define WIDTH_BARE   64 /* below it, the table leaves out bars and totals */
#define LINE_SIZE    (2 * PRINTER_TEXT_SIZE + 512)
#define TOP_COUNT    10
#define BAR_COLUMNS  8
#define BAR_SIZE     (BAR_COLUMNS * sizeof("\u2588"))
#define PLUGIN       " <plugin>"
#define NAME_COLUMNS 12 /* that a long source leaves to the name */

struct top {
	uint32_t functions[TOP_COUNT];
	unsigned count;
};

/* One row of the table of functions, its cells ready to print. */
struct row {
	char self[UNITS_SIZE], time[UNITS_SIZE], total[UNITS_SIZE];
	char name[PRINTER_TEXT_SIZE], source[PRINTER_TEXT_SIZE];
	uint64_t self_us;
};

struct columns {
	unsigned time, name, source;
};

/* Equal self times keep one order from run to run: by total, then by id. */
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

/* The line with the most of a function's own time: " (:14 62.0%)". Nothing where none is known. */
static void append_hottest_line(const struct ls_profile *profile, const struct ls_totals *totals,
				uint32_t id, char *to, size_t size)
{
	const struct ls_profile_function *function = &profile->functions[id];
	uint32_t hottest = function->first_line;
	char share[UNITS_SIZE];
	size_t length = strlen(to);

	if (!function->line_count)
		return;
	for (uint32_t at = hottest; at < function->first_line + function->line_count; at++)
		if (totals->line_self_us[at] > totals->line_self_us[hottest])
			hottest = at;
	units__format_share(totals->line_self_us[hottest], totals->function_self_us[id], share,
			    sizeof(share));
	snprintf(to + length, size - length, " (:%" PRIu32 " %s)", profile->lines[hottest].line,
		 share);
}

static void fill_row(const struct ls_profile *profile, const struct ls_totals *totals, uint32_t id,
		     bool with_lines, struct row *row)
{
	const struct ls_profile_function *function = &profile->functions[id];
	bool has_name = function->name && *function->name;
	size_t length;

	row->self_us = totals->function_self_us[id];
	units__format_share(row->self_us, totals->all_us, row->self, sizeof(row->self));
	units__format_time(row->self_us * NS_PER_US, row->time, sizeof(row->time));
	units__format_share(totals->function_total_us[id], totals->all_us, row->total,
			    sizeof(row->total));
	log__printable(has_name ? function->name : "<anonymous>", row->name,
		       sizeof(row->name) - sizeof(PLUGIN));
	if (function->flags & LS_FUNCTION_PLUGIN)
		strcat(row->name, PLUGIN);
	log__printable(function->source, row->source, sizeof(row->source) - 3 * UNITS_SIZE);
	length = strlen(row->source);
	if (function->line || function->current_line)
		snprintf(row->source + length, sizeof(row->source) - length, ":%" PRIu32,
			 function->current_line ? function->current_line : function->line);
	if (with_lines)
		append_hottest_line(profile, totals, id, row->source, sizeof(row->source));
}

/* The two text columns as wide as their longest cells; what is too long goes where room is left. */
static struct columns find_columns(const struct row *rows, unsigned count, unsigned room,
				   bool is_bare)
{
	struct columns columns = {.time = 4, .name = 8, .source = 6};
	unsigned fixed, share;

	for (unsigned i = 0; i < count; i++) {
		unsigned time = terminal__width(rows[i].time), name = terminal__width(rows[i].name);
		unsigned source = terminal__width(rows[i].source);

		columns.time = time > columns.time ? time : columns.time;
		columns.name = name > columns.name ? name : columns.name;
		columns.source = source > columns.source ? source : columns.source;
	}
	fixed = 2 + 2 + 2 + 6 + 2 + columns.time + 2 + 2 + (is_bare ? 0 : 6 + 2 + BAR_COLUMNS + 2);
	room = room > fixed + 2 * NAME_COLUMNS ? room - fixed : 2 * NAME_COLUMNS;
	if (columns.name + columns.source <= room)
		return columns;
	share = room * 2 / 5;
	if (columns.name > share)
		columns.name = room - columns.source > share && columns.source < room
				       ? room - columns.source
				       : share;
	columns.source = room - columns.name;
	return columns;
}

/* Its full length is `most`; eighths of a column where the terminal has them. */
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

static void put_row(const struct printer *printer, const struct columns *columns, unsigned rank,
		    const struct row *row, uint64_t most_us)
{
	char name[PRINTER_TEXT_SIZE], source[PRINTER_TEXT_SIZE], bar[BAR_SIZE];
	char middle[UNITS_SIZE + BAR_SIZE + 8] = "", line[LINE_SIZE];

	terminal__cell(row->name, columns->name, false, printer->utf8, name, sizeof(name));
	terminal__cell(row->source, columns->source, true, printer->utf8, source, sizeof(source));
	format_bar(printer, row->self_us, most_us, bar, sizeof(bar));
	if (printer->width >= WIDTH_BARE)
		snprintf(middle, sizeof(middle), "%6s  %s  ", row->total, bar);
	snprintf(line, sizeof(line), "  %2u  %6s  %*s  %s%s  %s", rank, row->self,
		 (int)columns->time, row->time, middle, name, source);
	printer__line(printer, line);
}

/* With the hottest lines if no cell has to be cut for them. */
static struct columns fill_rows(const struct printer *printer, const struct ls_profile *profile,
				const struct ls_totals *totals, const struct top *top,
				struct row *rows)
{
	bool is_bare = printer->width < WIDTH_BARE;
	struct columns columns = {0};

	for (int with_lines = !is_bare; with_lines >= 0; with_lines--) {
		bool fits = true;

		for (unsigned i = 0; i < top->count; i++)
			fill_row(profile, totals, top->functions[i], with_lines, &rows[i]);
		columns = find_columns(rows, top->count, printer->width, is_bare);
		for (unsigned i = 0; i < top->count; i++)
			fits &= terminal__width(rows[i].source) <= columns.source &&
				terminal__width(rows[i].name) <= columns.name;
		if (fits)
			break;
	}
	return columns;
}

void hottest_functions__print(const struct printer *printer, const struct ls_profile *profile,
			      const struct ls_totals *totals)
{
	struct top top = find_top(profile, totals);
	struct row rows[TOP_COUNT];
	struct columns columns;
	char head[LINE_SIZE];
	bool is_bare = printer->width < WIDTH_BARE;

	printer__line(printer, "");
	printer__line(printer, "Hottest functions, by self time");
	if (!top.count) {
		printer__line(printer, "  none: no script used CPU time");
		return;
	}
	columns = fill_rows(printer, profile, totals, &top, rows);
	snprintf(head, sizeof(head), "      %6s  %*s  %s%-*s  source", "self", (int)columns.time,
		 "time", is_bare ? "" : " total            ", (int)columns.name, "function");
	printer__line(printer, head);
	for (unsigned i = 0; i < top.count; i++)
		put_row(printer, &columns, i + 1, &rows[i], rows[0].self_us);
}
