/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/process_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/units.h"
#include "process/container.h"
#include "summary/function_label.h"

#define NS_PER_US   UINT64_C(1000)
#define TOP_COUNT   10
#define WIDTH_TIMES 64 /* narrower tables have no times */
#define ROOM_LEAST  24 /* for the name and the function */
#define LINE_SIZE   (2 * PRINTER_TEXT_SIZE + 8 * UNITS_SIZE)

struct top {
	const struct ls_profile_category *categories[TOP_COUNT];
	unsigned count;
};

struct row {
	char cpu[UNITS_SIZE], time[UNITS_SIZE], samples[UNITS_SIZE], script[UNITS_SIZE];
	const char *name;                                 /* not escaped */
	char hottest[PRINTER_TEXT_SIZE + 2 * UNITS_SIZE]; /* "28.1%  fib", of its CPU time */
};

/* Widths of the columns that vary; 0: left out. */
struct columns {
	unsigned time, samples, name, hottest;
};

static uint64_t time_us(const struct ls_totals *totals, const struct ls_profile_category *category)
{
	return totals->node_total_us[category->node];
}

static struct top find_top(const struct ls_profile *profile, const struct ls_totals *totals)
{
	struct top top = {.count = 0};

	for (uint32_t i = 0; i < profile->category_count; i++) {
		const struct ls_profile_category *category = &profile->categories[i];
		unsigned at = top.count;

		while (at && time_us(totals, category) > time_us(totals, top.categories[at - 1]))
			at--;
		if (at == TOP_COUNT || !time_us(totals, category))
			continue;
		if (top.count < TOP_COUNT)
			top.count++;
		memmove(&top.categories[at + 1], &top.categories[at],
			(top.count - at - 1) * sizeof(top.categories[0]));
		top.categories[at] = category;
	}
	return top;
}

/* The node that follows in the tree below `root`, parents first; 0: there is none. */
static uint32_t next_node(const struct ls_profile *profile, uint32_t root, uint32_t node)
{
	if (profile->nodes[node].first_child)
		return profile->nodes[node].first_child;
	while (node != root && !profile->nodes[node].next_sibling)
		node = profile->nodes[node].parent;
	return node == root ? 0 : profile->nodes[node].next_sibling;
}

/*
 * Finds the function with the most self time in a category; 0: none has any. `sums` has room for
 * each function and is all zero, before and after. Returns the time.
 */
static uint64_t find_hottest(const struct ls_profile *profile, const struct ls_totals *totals,
			     uint32_t root, uint64_t *sums, uint32_t *hottest)
{
	uint64_t most_us;
	uint32_t node;

	*hottest = 0;
	for (node = root; node; node = next_node(profile, root, node)) {
		uint32_t function = profile->nodes[node].function;

		if (!function || !profile->functions[function].source)
			continue;
		sums[function] += totals__node_self_us(profile, totals, node);
		if (sums[function] > sums[*hottest])
			*hottest = function;
	}
	most_us = sums[*hottest];
	for (node = root; node; node = next_node(profile, root, node))
		sums[profile->nodes[node].function] = 0;
	return most_us;
}

static uint64_t count_samples(const struct ls_profile *profile, uint32_t root)
{
	uint64_t count = 0;

	for (uint32_t node = root; node; node = next_node(profile, root, node))
		count += profile->nodes[node].samples;
	return count;
}

static void fill_row(const struct ls_profile *profile, const struct ls_totals *totals,
		     const struct ls_profile_category *category, uint64_t *sums, struct row *row)
{
	uint64_t us = time_us(totals, category), script_us = us, hottest_us;
	uint32_t child = profile->nodes[category->node].first_child, hottest;
	struct function_label label;
	char share[UNITS_SIZE];

	for (; child; child = profile->nodes[child].next_sibling)
		if (profile__is_outside(&profile->functions[profile->nodes[child].function]))
			script_us -= totals->node_total_us[child];
	units__format_share(us, totals->all_us, row->cpu, sizeof(row->cpu));
	units__format_time(us * NS_PER_US, row->time, sizeof(row->time));
	units__format_share(script_us, us, row->script, sizeof(row->script));
	units__format_count(count_samples(profile, category->node), row->samples,
			    sizeof(row->samples));
	row->name = category->name;
	row->hottest[0] = '\0';
	hottest_us = find_hottest(profile, totals, category->node, sums, &hottest);
	if (!hottest)
		return;
	function_label__make(&profile->functions[hottest], &label);
	units__format_share(hottest_us, us, share, sizeof(share));
	snprintf(row->hottest, sizeof(row->hottest), "%s  %s", share, label.name);
}

char *process_table__fit_name(const char *name, unsigned columns, bool utf8, char *to, size_t size)
{
	char text[PRINTER_TEXT_SIZE], brief[PRINTER_TEXT_SIZE];
	unsigned width;

	log__printable(name, text, sizeof(text));
	if (terminal__width(text) > columns) {
		container__short_title(name, brief, sizeof(brief));
		log__printable(brief, text, sizeof(text));
	}
	width = terminal__width(text);
	return terminal__cell(text, width < columns ? width : columns, false, utf8, to, size);
}

static void put_row(const struct printer *printer, const struct row *row,
		    const struct columns *columns)
{
	char line[LINE_SIZE], time[UNITS_SIZE + 8] = "", samples[UNITS_SIZE + 8] = "";
	char name[PRINTER_TEXT_SIZE], cell[PRINTER_TEXT_SIZE];

	if (columns->time)
		snprintf(time, sizeof(time), "  %*s", (int)columns->time, row->time);
	if (columns->samples)
		snprintf(samples, sizeof(samples), "  %*s", (int)columns->samples, row->samples);
	process_table__fit_name(row->name, columns->name, printer->utf8, name, sizeof(name));
	terminal__cell(name, columns->name, false, printer->utf8, cell, sizeof(cell));
	snprintf(line, sizeof(line), "  %6s%s%s  %6s  %s  %s", row->cpu, time, samples, row->script,
		 cell, row->hottest);
	printer__line(printer, line);
}

static void widen(unsigned *columns, const char *text)
{
	unsigned width = terminal__width(text);

	*columns = width > *columns ? width : *columns;
}

/* Names give way to times, and samples to all else. */
static struct columns find_columns(const struct printer *printer, const struct row *rows,
				   unsigned count)
{
	unsigned fixed = 2 + 6 + 2 + 6 + 2, room;
	struct columns columns = {};
	char name[PRINTER_TEXT_SIZE];

	for (unsigned i = 0; i < count; i++) {
		widen(&columns.time, rows[i].time);
		widen(&columns.samples, rows[i].samples);
		widen(&columns.name, log__printable(rows[i].name, name, sizeof(name)));
		widen(&columns.hottest, rows[i].hottest);
	}
	if (printer->width < WIDTH_TIMES)
		columns.time = 0;
	fixed += columns.time ? columns.time + 2 : 0;
	room = printer->width > fixed + ROOM_LEAST ? printer->width - fixed : ROOM_LEAST;
	if (columns.samples + 2 + columns.name + 2 + columns.hottest > room)
		columns.samples = 0;
	columns.name = columns.name < room * 3 / 5 ? columns.name : room * 3 / 5;
	return columns;
}

static void put_rows(const struct printer *printer, const struct row *rows, unsigned count)
{
	struct columns columns = find_columns(printer, rows, count);

	for (unsigned i = 0; i < count; i++)
		put_row(printer, &rows[i], &columns);
}

void process_table__print(const struct printer *printer, const struct ls_profile *profile,
			  const struct ls_totals *totals, const struct category_words *words)
{
	uint64_t *sums = calloc(profile->function_count + 1, sizeof(*sums));
	struct row *rows = calloc(1 + TOP_COUNT, sizeof(*rows));
	struct top top = find_top(profile, totals);
	char more[UNITS_SIZE], line[UNITS_SIZE + 32];

	if (!sums || !rows || profile->category_count < 2)
		goto cleanup;
	printer__line(printer, "");
	snprintf(line, sizeof(line), "%c%s, by CPU time", toupper(words->many[0]), words->many + 1);
	printer__line(printer, line);
	rows[0] = (struct row){"CPU", "time", "samples", "script", words->one, "hottest function"};
	for (unsigned i = 0; i < top.count; i++)
		fill_row(profile, totals, top.categories[i], sums, &rows[1 + i]);
	put_rows(printer, rows, 1 + top.count);
	if (profile->category_count > top.count) {
		units__format_count(profile->category_count - top.count, more, sizeof(more));
		snprintf(line, sizeof(line), "  and %s more", more);
		printer__line(printer, line);
	}
cleanup:
	free(rows);
	free(sums);
}
