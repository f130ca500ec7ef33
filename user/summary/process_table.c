/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/process_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/units.h"
#include "summary/function_label.h"

#define NS_PER_US   UINT64_C(1000)
#define TOP_COUNT   10
#define WIDTH_TIMES 64 /* narrower tables have no times */
#define NAME_LEAST  7  /* columns of a name */
#define ROOM_LEAST  24 /* for the name and the function */
#define LINE_SIZE   (2 * PRINTER_TEXT_SIZE + 8 * UNITS_SIZE)

struct top {
	const struct ls_profile_category *categories[TOP_COUNT];
	unsigned count;
};

struct row {
	char cpu[UNITS_SIZE], time[UNITS_SIZE], script[UNITS_SIZE];
	char name[PRINTER_TEXT_SIZE];
	char hottest[PRINTER_TEXT_SIZE + 2 * UNITS_SIZE]; /* "28.1%  fib", of its CPU time */
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

/* A node's own time. */
static uint64_t self_us(const struct ls_profile *profile, const struct ls_totals *totals,
			uint32_t node)
{
	uint32_t child = profile->nodes[node].first_child;
	uint64_t us = totals->node_total_us[node];

	for (; child; child = profile->nodes[child].next_sibling)
		us -= totals->node_total_us[child];
	return us;
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
		sums[function] += self_us(profile, totals, node);
		if (sums[function] > sums[*hottest])
			*hottest = function;
	}
	most_us = sums[*hottest];
	for (node = root; node; node = next_node(profile, root, node))
		sums[profile->nodes[node].function] = 0;
	return most_us;
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
	log__printable(category->name, row->name, sizeof(row->name));
	row->hottest[0] = '\0';
	hottest_us = find_hottest(profile, totals, category->node, sums, &hottest);
	if (!hottest)
		return;
	function_label__make(&profile->functions[hottest], &label);
	units__format_share(hottest_us, us, share, sizeof(share));
	snprintf(row->hottest, sizeof(row->hottest), "%s  %s", share, label.name);
}

static void put_row(const struct printer *printer, const struct row *row, unsigned time_columns,
		    unsigned name_columns)
{
	char line[LINE_SIZE], time[UNITS_SIZE + 8] = "", name[PRINTER_TEXT_SIZE];

	if (printer->width >= WIDTH_TIMES)
		snprintf(time, sizeof(time), "  %*s", (int)time_columns, row->time);
	terminal__cell(row->name, name_columns, false, printer->utf8, name, sizeof(name));
	snprintf(line, sizeof(line), "  %6s%s  %6s  %s  %s", row->cpu, time, row->script, name,
		 row->hottest);
	printer__line(printer, line);
}

static void put_rows(const struct printer *printer, const struct row *rows, unsigned count)
{
	static const struct row head = {"CPU", "time", "script", "process", "hottest function"};
	unsigned fixed = 2 + 6 + 2 + 6 + 2, time = 4, name = NAME_LEAST, room;

	for (unsigned i = 0; i < count; i++) {
		unsigned width = terminal__width(rows[i].time);

		time = width > time ? width : time;
		width = terminal__width(rows[i].name);
		name = width > name ? width : name;
	}
	fixed += printer->width >= WIDTH_TIMES ? time + 2 : 0;
	room = printer->width > fixed + ROOM_LEAST ? printer->width - fixed : ROOM_LEAST;
	name = name < room * 3 / 5 ? name : room * 3 / 5;
	put_row(printer, &head, time, name);
	for (unsigned i = 0; i < count; i++)
		put_row(printer, &rows[i], time, name);
}

void process_table__print(const struct printer *printer, const struct ls_profile *profile,
			  const struct ls_totals *totals)
{
	uint64_t *sums = calloc(profile->function_count + 1, sizeof(*sums));
	struct row *rows = calloc(TOP_COUNT, sizeof(*rows));
	struct top top = find_top(profile, totals);
	char more[UNITS_SIZE], line[UNITS_SIZE + 32];

	if (!sums || !rows || profile->category_count < 2)
		goto cleanup;
	printer__line(printer, "");
	printer__line(printer, "Processes, by CPU time");
	for (unsigned i = 0; i < top.count; i++)
		fill_row(profile, totals, top.categories[i], sums, &rows[i]);
	put_rows(printer, rows, top.count);
	if (profile->category_count > top.count) {
		units__format_count(profile->category_count - top.count, more, sizeof(more));
		snprintf(line, sizeof(line), "  and %s more", more);
		printer__line(printer, line);
	}
cleanup:
	free(rows);
	free(sums);
}
