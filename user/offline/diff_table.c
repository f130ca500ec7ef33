/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/units.h"
#include "offline/diff_report.h"
#include "summary/function_label.h"
#include "summary/printer.h"
#include "system/resource_limits.h"

/* A stack whose change is that of one of its callees, to this part, says nothing new. */
#define PART_OF_CALLEE 0.8
#define LINE_SIZE      (2 * FUNCTION_LABEL_SIZE)
#define NAME_COLUMNS   24
#define INDENT         44 /* columns of the numbers */

struct table {
	const struct profile_diff *diff;
	struct printer printer;
	uint32_t limit;
};

/* A row to be sorted. */
struct entry {
	double change;
	uint32_t id;
};

static double change_of(const struct diff_row *row)
{
	return row->after - row->before;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	double x = fabs(a->change), y = fabs(b->change);

	if (x != y)
		return x < y ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Whether a callee's own change explains that of the node. */
static bool is_explained(const struct table *table, uint32_t id)
{
	const struct ls_profile_node *nodes = profile_diff__profile(table->diff)->nodes;
	const struct diff_row *rows = profile_diff__rows(table->diff, PROFILE_DIFF_STACK);

	for (uint32_t child = nodes[id].first_child; child; child = nodes[child].next_sibling)
		if (rows[child].verdict == rows[id].verdict &&
		    fabs(change_of(&rows[child])) >= PART_OF_CALLEE * fabs(change_of(&rows[id])))
			return true;
	return false;
}

/* The rows that are no noise, largest change first. NULL: out of memory. The caller frees. */
static struct entry *collect(const struct table *table, enum profile_diff_kind kind, size_t *count)
{
	const struct diff_row *rows = profile_diff__rows(table->diff, kind);
	uint32_t highest = profile_diff__highest(table->diff, kind);
	struct entry *entries = calloc((size_t)highest + 1, sizeof(*entries));

	*count = 0;
	for (uint32_t id = 1; entries && id <= highest; id++)
		if (rows[id].verdict != DIFF_NOISE &&
		    (kind != PROFILE_DIFF_STACK || !is_explained(table, id)))
			entries[(*count)++] = (struct entry){change_of(&rows[id]), id};
	if (entries)
		qsort(entries, *count, sizeof(*entries), compare_entries);
	return entries;
}

static void print_numbers(const struct diff_row *row, char *to, size_t size)
{
	snprintf(to, size, "%-6s  %6.2f%% %6.2f%%  %+7.2f \xc2\xb1%.2f",
		 row->verdict == DIFF_SLOWER ? "slower" : "faster", 100 * row->before,
		 100 * row->after, 100 * change_of(row), 100 * row->error);
}

static void print_function(const struct table *table, const struct diff_row *row, uint32_t id)
{
	const struct ls_profile *profile = profile_diff__profile(table->diff);
	char line[LINE_SIZE], label[FUNCTION_LABEL_SIZE], numbers[128];
	struct function_label parts = {};
	unsigned room = table->printer.width > INDENT + 20 ? table->printer.width - INDENT : 20;

	function_label__make(&profile->functions[id], &parts);
	function_label__fit(&parts, room, NAME_COLUMNS, table->printer.utf8, label, sizeof(label));
	print_numbers(row, numbers, sizeof(numbers));
	snprintf(line, sizeof(line), "  %s  %s", numbers, label);
	printer__line(&table->printer, line);
}

/* The functions of a stack, outermost first. */
static void print_stack(const struct table *table, const struct diff_row *row, uint32_t id)
{
	const struct ls_profile *profile = profile_diff__profile(table->diff);
	char text[4096] = "", older[4096], name[256], line[8192], numbers[128];

	for (; profile->nodes[id].parent; id = profile->nodes[id].parent) {
		const struct ls_profile_function *function =
			&profile->functions[profile->nodes[id].function];
		int size;

		log__printable(function->name ? function->name : "<anonymous>", name, sizeof(name));
		snprintf(older, sizeof(older), "%s", text);
		size = snprintf(text, sizeof(text), "%s%s%s", name, *older ? " > " : "", older);
		if (size >= (int)sizeof(text) / 2)
			break;
	}
	print_numbers(row, numbers, sizeof(numbers));
	snprintf(line, sizeof(line), "  %s  %s%s", numbers,
		 profile->nodes[id].parent ? "... > " : "", text);
	printer__line(&table->printer, line);
}

static void print_kind(const struct table *table, enum profile_diff_kind kind, const char *heading)
{
	const struct diff_row *rows = profile_diff__rows(table->diff, kind);
	FILE *stream = table->printer.stream;
	size_t count;
	struct entry *entries = collect(table, kind, &count);

	if (!entries)
		log_error("cannot show %s: %s", heading, resource_limits__reason(-12));
	if (count) {
		fprintf(stream, "\n%s\n", heading);
		printer__line(&table->printer, "          before   after   change     what");
	}
	for (size_t i = 0; i < count && i < table->limit; i++)
		if (kind == PROFILE_DIFF_STACK)
			print_stack(table, &rows[entries[i].id], entries[i].id);
		else
			print_function(table, &rows[entries[i].id], entries[i].id);
	if (count > table->limit)
		fprintf(stream, "  %zu more ('--limit')\n", count - table->limit);
	free(entries);
}

static void print_side(const struct table *table, const char *name, bool is_after)
{
	struct profile_diff_side side = profile_diff__side(table->diff, is_after);
	char time[UNITS_SIZE], samples[UNITS_SIZE];

	fprintf(table->printer.stream, "%s %zu recording%s, %s of CPU time, %s%s samples\n", name,
		side.recordings, side.recordings == 1 ? "" : "s",
		units__format_time(side.time_ns, time, sizeof(time)),
		side.assumes_samples ? "about " : "",
		units__format_count((uint64_t)side.samples, samples, sizeof(samples)));
}

static size_t count_changes(const struct profile_diff *diff)
{
	size_t count = 0;

	for (int kind = 0; kind < PROFILE_DIFF_KINDS; kind++)
		for (uint32_t id = 1; id <= profile_diff__highest(diff, kind); id++)
			count += profile_diff__rows(diff, kind)[id].verdict != DIFF_NOISE;
	return count;
}

void diff_report__print(const struct profile_diff *diff, const struct diff_options *options,
			FILE *stream)
{
	struct table table = {
		.diff = diff, .printer = printer__on(stream), .limit = options->limit};
	char percent[UNITS_SIZE];

	print_side(&table, "before:", false);
	print_side(&table, "after: ", true);
	fprintf(stream, "%s; \xc2\xb1 is the standard error, with %.1f%% from run to run\n",
		options->by_time ? "CPU time, as parts of that before" : "shares of the CPU time",
		100 * profile_diff__noise(diff));
	if (options->input_count == 2)
		fprintf(stream,
			"with one recording on each side, %.1f%% is an assumption: several find smaller changes\n",
			100 * profile_diff__noise(diff));
	print_kind(&table, PROFILE_DIFF_SELF, "Functions, by themselves");
	print_kind(&table, PROFILE_DIFF_TOTAL, "Functions, with what they call");
	print_kind(&table, PROFILE_DIFF_STACK, "Stacks");
	if (!count_changes(diff))
		fprintf(stream, "\nno change beyond noise, at a confidence of %s\n",
			units__format_percent(options->confidence_ppm, percent, sizeof(percent)));
}

static void find_worst(const struct profile_diff *diff, enum profile_diff_kind kind, double *worst,
		       uint32_t *function)
{
	const struct diff_row *rows = profile_diff__rows(diff, kind);

	for (uint32_t id = 1; id <= profile_diff__highest(diff, kind); id++)
		if (rows[id].verdict == DIFF_SLOWER && change_of(&rows[id]) > *worst) {
			*worst = change_of(&rows[id]);
			*function = id;
		}
}

double diff_report__worst(const struct profile_diff *diff, uint32_t *function)
{
	double worst = 0;

	*function = 0;
	find_worst(diff, PROFILE_DIFF_SELF, &worst, function);
	find_worst(diff, PROFILE_DIFF_TOTAL, &worst, function);
	return worst;
}
