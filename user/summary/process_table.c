/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/process_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/units.h"
#include "process/container.h"
#include "summary/function_label.h"

#define TOP_COUNT   10
#define WIDTH_TIMES 64 /* narrower tables have no times */
#define ROOM_LEAST  24 /* for the name and the function */
#define LINE_SIZE   (2 * PRINTER_TEXT_SIZE + 8 * UNITS_SIZE)

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

/* What is printed. */
struct table {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	const struct row_choice *choice;
	const struct ls_profile_category **categories; /* in order */
	uint32_t count, left_out;
};

/* For qsort_r(). */
static int compare(const void *left, const void *right, void *context)
{
	const struct ls_profile_category *a = *(const struct ls_profile_category *const *)left;
	const struct ls_profile_category *b = *(const struct ls_profile_category *const *)right;
	const struct table *table = context;
	uint64_t a_us = time_us(table->totals, a), b_us = time_us(table->totals, b);
	int order = table->choice->order == ROW_ORDER_NAME ? strcmp(a->name, b->name) : 0;

	if (!order)
		order = (a_us < b_us) - (a_us > b_us);
	return order ? order : (a > b) - (a < b);
}

static int choose(struct table *table)
{
	const struct row_choice *choice = table->choice;
	uint32_t all = table->profile->category_count;

	table->categories = calloc((size_t)all + 1, sizeof(struct ls_profile_category *));
	if (!table->categories)
		return -ENOMEM;
	for (uint32_t i = 0; i < all; i++) {
		uint64_t us = time_us(table->totals, &table->profile->categories[i]);

		if (us && us >= choice->least_us && !(choice->hidden && choice->hidden[i]))
			table->categories[table->count++] = &table->profile->categories[i];
	}
	qsort_r(table->categories, table->count, sizeof(struct ls_profile_category *), compare,
		table);
	if (table->count > choice->limit)
		table->count = choice->limit;
	table->left_out = all - table->count;
	return 0;
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

		if (!function || profile__is_pseudo(&profile->functions[function]))
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

uint64_t process_table__script_us(const struct ls_profile *profile, const struct ls_totals *totals,
				  const struct ls_profile_category *category)
{
	uint32_t child = profile->nodes[category->node].first_child;
	uint64_t us = time_us(totals, category);

	for (; child; child = profile->nodes[child].next_sibling)
		if (profile__is_outside(&profile->functions[profile->nodes[child].function]))
			us -= totals->node_total_us[child];
	return us;
}

/* Threads that run no script and take less than one part of so many are not worth a table. */
#define IDLE_PART 100

bool process_table__tells(const struct ls_profile *profile, const struct ls_totals *totals,
			  const struct category_words *words)
{
	uint64_t idle_us = 0;
	uint32_t busy = 0;

	if (words != category_words__of(CATEGORY_THREAD, GROUPING_NONE))
		return profile->category_count > 1;
	for (uint32_t i = 0; i < profile->category_count; i++) {
		const struct ls_profile_category *category = &profile->categories[i];

		if (process_table__script_us(profile, totals, category))
			busy++;
		else
			idle_us += time_us(totals, category);
	}
	return profile->category_count > 1 && (busy > 1 || idle_us >= totals->all_us / IDLE_PART);
}

static void fill_row(const struct printer *printer, const struct ls_profile *profile,
		     const struct ls_totals *totals, const struct ls_profile_category *category,
		     uint64_t *sums, struct row *row)
{
	uint64_t us = time_us(totals, category), hottest_us;
	struct function_label label;
	char share[UNITS_SIZE];
	uint32_t hottest;

	units__format_share(us, totals->all_us, row->cpu, sizeof(row->cpu));
	printer__format_time(printer, us, row->time, sizeof(row->time));
	units__format_share(process_table__script_us(profile, totals, category), us, row->script,
			    sizeof(row->script));
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

static void put_all(const struct printer *printer, const struct table *table,
		    const struct category_words *words, const struct row *rows)
{
	char more[UNITS_SIZE], line[UNITS_SIZE + 64];

	snprintf(line, sizeof(line), "%c%s, by %s", toupper(words->many[0]), words->many + 1,
		 table->choice->order == ROW_ORDER_NAME ? "name" : "CPU time");
	printer__styled(printer, PRINTER_TITLE, line);
	put_rows(printer, rows, 1 + table->count);
	if (!table->left_out)
		return;
	units__format_count(table->left_out, more, sizeof(more));
	snprintf(line, sizeof(line), "  and %s more", more);
	printer__line(printer, line);
}

int process_table__print_chosen(const struct printer *printer, const struct ls_profile *profile,
				const struct ls_totals *totals, const struct category_words *words,
				const struct row_choice *choice)
{
	struct table table = {.profile = profile, .totals = totals, .choice = choice};
	uint64_t *sums = calloc((size_t)profile->function_count + 1, sizeof(*sums));
	int error = choose(&table);
	struct row *rows = calloc(1 + (size_t)table.count, sizeof(*rows));

	if (!sums || !rows)
		error = -ENOMEM;
	if (!error) {
		rows[0] = (struct row){"CPU",    "time",     "samples",
				       "script", words->one, "hottest function"};
		for (uint32_t i = 0; i < table.count; i++)
			fill_row(printer, profile, totals, table.categories[i], sums, &rows[1 + i]);
		put_all(printer, &table, words, rows);
	}
	free(rows);
	free(sums);
	free(table.categories);
	return error;
}

void process_table__print(const struct printer *printer, const struct ls_profile *profile,
			  const struct ls_totals *totals, const struct category_words *words)
{
	const struct row_choice choice = {.order = ROW_ORDER_TOTAL, .limit = TOP_COUNT};

	if (!process_table__tells(profile, totals, words))
		return;
	printer__line(printer, "");
	if (process_table__print_chosen(printer, profile, totals, words, &choice))
		printer__line(printer, "  out of memory");
}
