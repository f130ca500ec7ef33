/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report that gprof prints: a flat profile, an entry for each function between the arcs that
 * lead to it and those that lead away from it, and an index. "called" counts samples, since luaspy
 * sees no calls, or microseconds if there are no samples. Times are measured, not estimated from
 * numbers of calls as in gprof. Categories are functions without callers.
 *
 * Functions that call each other form a cycle, as in gprof: readers that follow the arcs rely on
 * it. The entry of a cycle lists its members. Its callers are listed with the members, since
 * readers take an entry with callers for a function's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "derived/call_arcs.h"
#include "derived/frame_labels.h"
#include "format/format.h"

#define SEPARATOR "-----------------------------------------------\n"

/* A function or a cycle. */
struct entry {
	const char *name; /* NULL: a cycle */
	uint64_t self_us, total_us, samples;
	uint32_t function;         /* number as in call_arcs.h; cycles follow categories */
	uint32_t cycle;            /* its number; 0: in none */
	size_t first_out, end_out; /* arcs in by_caller; of a cycle: its members in `sorted` */
	size_t first_in, end_in;   /* arcs in by_callee */
};

struct output {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	struct call_arcs by_caller, by_callee;
	struct entry *entries;   /* those with any time or samples, the longest first */
	struct entry **sorted;   /* by name, by cycle or by self time */
	uint32_t *numbers;       /* by function: of its entry, from 1 */
	uint32_t *cycles;        /* by function: its cycle as call_arcs__find_cycles() numbers it */
	uint32_t *cycle_numbers; /* by that: the number shown, from 1, the longest first */
	uint32_t entry_count, cycle_count;
	FILE *stream;
};

static uint32_t function_count(const struct output *output)
{
	return output->profile->function_count + output->profile->category_count;
}

static int find_cycles(struct output *output)
{
	int64_t count;

	output->cycles = calloc((size_t)function_count(output) + 1, sizeof(*output->cycles));
	if (!output->cycles)
		return -ENOMEM;
	count = call_arcs__find_cycles(&output->by_caller, function_count(output), output->cycles);
	output->cycle_count = count > 0 ? (uint32_t)count : 0;
	return count < 0 ? (int)count : 0;
}

/* Allocates an entry for each function, by id from 1, and then for each cycle. */
static int make_tables(struct output *output)
{
	size_t entries = (size_t)function_count(output) + output->cycle_count + 1;
	size_t arcs_size = output->by_caller.count * sizeof(struct call_arc);

	output->entries = calloc(entries, sizeof(*output->entries));
	output->sorted = calloc(entries, sizeof(*output->sorted));
	output->numbers = calloc(entries, sizeof(*output->numbers));
	output->cycle_numbers =
		calloc((size_t)output->cycle_count + 1, sizeof(*output->cycle_numbers));
	output->by_callee.arcs = malloc(arcs_size + 1);
	if (!output->entries || !output->sorted || !output->numbers || !output->cycle_numbers ||
	    !output->by_callee.arcs)
		return -ENOMEM;
	if (arcs_size)
		memcpy(output->by_callee.arcs, output->by_caller.arcs, arcs_size);
	output->by_callee.count = output->by_caller.count;
	return 0;
}

static void free_tables(struct output *output)
{
	call_arcs__free(&output->by_caller);
	call_arcs__free(&output->by_callee);
	free(output->entries);
	free(output->sorted);
	free(output->numbers);
	free(output->cycles);
	free(output->cycle_numbers);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The arcs away from a function: the longest first. */
static int compare_by_caller(const void *left, const void *right)
{
	const struct call_arc *a = left, *b = right;

	if (a->caller != b->caller)
		return compare_numbers(a->caller, b->caller);
	return a->us != b->us ? compare_numbers(b->us, a->us)
			      : compare_numbers(a->callee, b->callee);
}

/* The arcs to a function: the longest last, next to the line of the function. */
static int compare_by_callee(const void *left, const void *right)
{
	const struct call_arc *a = left, *b = right;

	if (a->callee != b->callee)
		return compare_numbers(a->callee, b->callee);
	return a->us != b->us ? compare_numbers(a->us, b->us)
			      : compare_numbers(a->caller, b->caller);
}

/* A cycle comes before its members. */
static int compare_totals(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->total_us != b->total_us)
		return compare_numbers(b->total_us, a->total_us);
	if (!a->name != !b->name)
		return a->name ? 1 : -1;
	return compare_numbers(a->function, b->function);
}

/* By cycle, then in the order of the entries: the longest first. */
static int compare_cycles(const void *left, const void *right)
{
	const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;

	return a->cycle != b->cycle ? compare_numbers(a->cycle, b->cycle) : (a > b) - (a < b);
}

static int compare_self(const void *left, const void *right)
{
	const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;

	return a->self_us != b->self_us ? compare_numbers(b->self_us, a->self_us)
					: (a > b) - (a < b);
}

static int compare_names(const void *left, const void *right)
{
	const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a > b) - (a < b);
}

/* Fills output->sorted with the entries of functions, in that order. Returns their number. */
static uint32_t sort_functions(const struct output *output, int compare(const void *, const void *))
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < output->entry_count; i++)
		if (output->entries[i].name)
			output->sorted[count++] = &output->entries[i];
	qsort(output->sorted, count, sizeof(*output->sorted), compare);
	return count;
}

static void describe_functions(struct output *output, const struct frame_labels *labels)
{
	const struct ls_profile *profile = output->profile;

	for (uint32_t id = 1; id <= profile->function_count; id++)
		output->entries[id] = (struct entry){
			.name = frame_labels__of(labels, id),
			.self_us = output->totals->function_self_us[id],
			.total_us = output->totals->function_total_us[id],
			.function = id,
		};
	for (uint32_t i = 0; i < profile->category_count; i++) {
		uint32_t node = profile->categories[i].node, id = profile->function_count + 1 + i;

		output->entries[id] = (struct entry){
			.name = frame_labels__of_category(labels, i),
			.self_us = totals__node_self_us(profile, output->totals, node),
			.total_us = output->totals->node_total_us[node],
			.samples = output->by_caller.has_samples
					   ? profile->nodes[node].samples
					   : totals__node_self_us(profile, output->totals, node),
			.function = id,
		};
	}
}

static void give_arcs(struct output *output)
{
	const struct call_arc *out = output->by_caller.arcs, *in = output->by_callee.arcs;
	size_t count = output->by_caller.count, out_at = 0, in_at = 0;

	for (uint32_t id = 1; id <= function_count(output); id++) {
		struct entry *entry = &output->entries[id];

		entry->first_out = out_at;
		entry->first_in = in_at;
		for (; out_at < count && out[out_at].caller == id; out_at++)
			if (id > output->profile->function_count)
				entry->samples += out[out_at].samples;
		for (; in_at < count && in[in_at].callee == id; in_at++)
			entry->samples += in[in_at].samples;
		entry->end_out = out_at;
		entry->end_in = in_at;
	}
}

/* The total of a cycle is that of the arcs into it from outside. */
static void describe_cycles(struct output *output)
{
	struct entry *cycles = &output->entries[function_count(output)]; /* from 1 */

	for (uint32_t cycle = 1; cycle <= output->cycle_count; cycle++)
		cycles[cycle] =
			(struct entry){.function = function_count(output) + cycle, .cycle = cycle};
	for (uint32_t id = 1; id <= function_count(output); id++) {
		output->entries[id].cycle = output->cycles[id];
		if (output->cycles[id])
			cycles[output->cycles[id]].self_us += output->entries[id].self_us;
	}
	for (size_t i = 0; i < output->by_caller.count; i++) {
		const struct call_arc *arc = &output->by_caller.arcs[i];
		uint32_t cycle = output->cycles[arc->callee];

		if (cycle && cycle != output->cycles[arc->caller]) {
			cycles[cycle].total_us += arc->us;
			cycles[cycle].samples += arc->samples;
		}
	}
}

/* Drops entries with neither time nor samples, and numbers the others. */
static void number_entries(struct output *output)
{
	uint32_t cycles = 0;

	for (uint32_t id = 1; id <= function_count(output) + output->cycle_count; id++) {
		const struct entry *entry = &output->entries[id];

		if (entry->total_us || entry->samples)
			output->entries[output->entry_count++] = *entry;
	}
	qsort(output->entries, output->entry_count, sizeof(*output->entries), compare_totals);
	for (uint32_t i = 0; i < output->entry_count; i++) {
		output->numbers[output->entries[i].function] = i + 1;
		if (!output->entries[i].name)
			output->cycle_numbers[output->entries[i].cycle] = ++cycles;
	}
	for (uint32_t i = 0; i < output->entry_count; i++)
		output->entries[i].cycle = output->cycle_numbers[output->entries[i].cycle];
}

/* qsort() does not take NULL, which the arcs of a profile without calls are. */
static void sort_arcs(struct call_arcs *arcs, int (*compare)(const void *, const void *))
{
	if (arcs->count)
		qsort(arcs->arcs, arcs->count, sizeof(*arcs->arcs), compare);
}

static int make_entries(struct output *output, const struct frame_labels *labels)
{
	int error = find_cycles(output);

	if (!error)
		error = make_tables(output);
	if (error)
		return error;
	sort_arcs(&output->by_caller, compare_by_caller);
	sort_arcs(&output->by_callee, compare_by_callee);
	describe_functions(output, labels);
	give_arcs(output);
	describe_cycles(output);
	number_entries(output);
	return 0;
}

static double percent(const struct output *output, uint64_t us)
{
	return output->totals->all_us ? 100.0 * (double)us / (double)output->totals->all_us : 0;
}

/* Seconds to the microsecond, exactly. */
static void put_seconds(const struct output *output, int width, uint64_t us)
{
	fprintf(output->stream, " %*" PRIu64 ".%06" PRIu64, width - 7, us / 1000000, us % 1000000);
}

static void put_name(const struct output *output, const struct entry *entry)
{
	fprintf(output->stream, "  %s", entry->name);
	if (entry->cycle)
		fprintf(output->stream, " <cycle %" PRIu32 ">", entry->cycle);
	fprintf(output->stream, " [%" PRIu32 "]\n", output->numbers[entry->function]);
}

/* What "called" counts. */
static const char *unit_of(const struct output *output)
{
	return output->by_caller.has_samples ? "samples" : "microseconds";
}

static void put_flat_profile(const struct output *output)
{
	uint32_t count = sort_functions(output, compare_self);
	uint64_t sum_us = 0;

	fprintf(output->stream,
		"Flat profile:\n\n"
		"CPU time in seconds; \"%s\" were %s in the function or in what it called.\n\n"
		"  %%   cumulative       self                      total\n"
		" time     seconds      seconds %12s      seconds  name\n",
		unit_of(output), output->by_caller.has_samples ? "taken" : "spent",
		unit_of(output));
	for (uint32_t i = 0; i < count; i++) {
		const struct entry *entry = output->sorted[i];

		sum_us += entry->self_us;
		fprintf(output->stream, "%6.2f", percent(output, entry->self_us));
		put_seconds(output, 12, sum_us);
		put_seconds(output, 12, entry->self_us);
		fprintf(output->stream, " %12" PRIu64, entry->samples);
		put_seconds(output, 12, entry->total_us);
		fprintf(output->stream, "  %s\n", entry->name);
	}
}

/* The line of a caller or of a callee in the entry of the function `about`. */
static void put_arc(const struct output *output, const struct call_arc *arc, uint32_t about)
{
	uint32_t other = arc->caller == about ? arc->callee : arc->caller;
	uint32_t number = output->numbers[other], cycle = output->cycles[arc->callee];
	char called[48];

	if (!number || !(arc->us || arc->calls) || arc->caller == arc->callee)
		return;
	if (cycle && cycle == output->cycles[arc->caller])
		snprintf(called, sizeof(called), "%" PRIu64, arc->calls);
	else
		snprintf(called, sizeof(called), "%" PRIu64 "/%" PRIu64, arc->samples,
			 output->entries[output->numbers[arc->callee] - 1].samples);
	fprintf(output->stream, "%13s", "");
	put_seconds(output, 12, arc->self_us);
	put_seconds(output, 12, arc->us - arc->self_us);
	fprintf(output->stream, " %15s    ", called);
	put_name(output, &output->entries[number - 1]);
}

/* The columns between the index and the name. */
static void put_sums(const struct output *output, const struct entry *entry)
{
	put_seconds(output, 12, entry->self_us);
	put_seconds(output, 12, entry->total_us - entry->self_us);
	fprintf(output->stream, " %15" PRIu64, entry->samples);
}

static void put_own_line(const struct output *output, const struct entry *entry)
{
	uint32_t number = output->numbers[entry->function];
	char index[16];

	snprintf(index, sizeof(index), "[%" PRIu32 "]", number);
	fprintf(output->stream, "%-7s %5.1f", index, percent(output, entry->total_us));
	put_sums(output, entry);
	if (entry->name)
		put_name(output, entry);
	else
		fprintf(output->stream, "  <cycle %" PRIu32 " as a whole> [%" PRIu32 "]\n",
			entry->cycle, number);
}

static void put_function(const struct output *output, const struct entry *entry)
{
	if (entry->first_in == entry->end_in)
		fprintf(output->stream, "%57s<spontaneous>\n", "");
	for (size_t i = entry->first_in; i < entry->end_in; i++)
		put_arc(output, &output->by_callee.arcs[i], entry->function);
	put_own_line(output, entry);
	for (size_t i = entry->first_out; i < entry->end_out; i++)
		put_arc(output, &output->by_caller.arcs[i], entry->function);
	fputs(SEPARATOR, output->stream);
}

static void put_cycle(const struct output *output, const struct entry *entry)
{
	put_own_line(output, entry);
	for (size_t i = entry->first_out; i < entry->end_out; i++) {
		fprintf(output->stream, "%13s", "");
		put_sums(output, output->sorted[i]);
		fputs("    ", output->stream);
		put_name(output, output->sorted[i]);
	}
	fputs(SEPARATOR, output->stream);
}

static void put_entries(struct output *output)
{
	uint32_t count = sort_functions(output, compare_cycles), at = 0;

	for (uint32_t i = 0; i < output->entry_count; i++) {
		struct entry *entry = &output->entries[i];

		if (entry->name) {
			put_function(output, entry);
			continue;
		}
		/* Cycles are numbered in the order of their entries. */
		while (at < count && output->sorted[at]->cycle < entry->cycle)
			at++;
		entry->first_out = at;
		while (at < count && output->sorted[at]->cycle == entry->cycle)
			at++;
		entry->end_out = at;
		put_cycle(output, entry);
	}
}

static void put_index(const struct output *output)
{
	uint32_t count = sort_functions(output, compare_names);

	fprintf(output->stream, "\f\nIndex by function name\n\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct entry *entry = output->sorted[i];
		char index[16];

		snprintf(index, sizeof(index), "[%" PRIu32 "]", output->numbers[entry->function]);
		fprintf(output->stream, "%8s %s\n", index, entry->name);
	}
}

static void put_report(struct output *output)
{
	put_flat_profile(output);
	fprintf(output->stream,
		"\f\n\t\t     Call graph\n\n"
		"Lines above a function's own are its callers, with what it and what it called took on\n"
		"their account. Lines below are what it called. \"called\" counts %s, of all that\n"
		"the callee has. Functions of a cycle call each other: there, a recursive call adds no\n"
		"time to that of the outermost one, and \"called\" counts %s with that call.\n\n"
		"granularity: microseconds of CPU time, of %" PRIu64 ".%06" PRIu64 " seconds\n\n"
		"index %% time    self  children    called     name\n",
		unit_of(output), unit_of(output), output->totals->all_us / 1000000,
		output->totals->all_us % 1000000);
	put_entries(output);
	put_index(output);
}

int write_gprof(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE);
	struct output output = {.profile = profile, .totals = totals, .stream = stream};
	int error = call_arcs__make(profile, totals, &output.by_caller);

	if (!error)
		error = labels ? make_entries(&output, labels) : -ENOMEM;
	if (!error)
		put_report(&output);
	if (!error)
		error = ferror(stream) ? -EIO : 0;
	free_tables(&output);
	frame_labels__free(labels);
	return error;
}
