/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/profile_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "combine/joined_profile.h"

/* Of a file that does not count its samples, if it does not say their period either: 1 ms. */
#define PERIOD_DEFAULT_NS 1000000

struct profile_diff {
	struct joined_profile *joined;
	const struct ls_profile *const *from; /* only while it is made */
	size_t count, before_count;
	double *samples, *grain; /* by recording */
	uint64_t *time_ns;       /* by recording */
	bool *assumes_samples;   /* by recording */
	struct diff_row *rows[PROFILE_DIFF_KINDS];
	double noise;
};

static uint32_t highest_of(const struct profile_diff *diff, enum profile_diff_kind kind)
{
	const struct ls_profile *whole = joined_profile__profile(diff->joined);

	return kind == PROFILE_DIFF_STACK ? whole->node_count : whole->function_count;
}

static int allocate(struct profile_diff *diff)
{
	diff->samples = calloc(diff->count, sizeof(*diff->samples));
	diff->grain = calloc(diff->count, sizeof(*diff->grain));
	diff->time_ns = calloc(diff->count, sizeof(*diff->time_ns));
	diff->assumes_samples = calloc(diff->count, sizeof(*diff->assumes_samples));
	for (int kind = 0; kind < PROFILE_DIFF_KINDS; kind++) {
		size_t count = (size_t)highest_of(diff, kind) + 1;

		diff->rows[kind] = calloc(count, sizeof(*diff->rows[kind]));
		if (!diff->rows[kind])
			return -ENOMEM;
	}
	return diff->samples && diff->grain && diff->time_ns && diff->assumes_samples ? 0 : -ENOMEM;
}

/* Counts what each recording has. 0, or -ENODATA for one without time. */
static int count_samples(struct profile_diff *diff, size_t *empty)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct ls_profile *profile = diff->from[i];
		uint64_t samples = 0, period_ns = profile->recorder.period_ns;

		for (uint32_t id = 1; id <= profile->node_count; id++) {
			samples += profile->nodes[id].samples;
			diff->time_ns[i] += profile->nodes[id].self_ns;
		}
		*empty = i;
		if (!diff->time_ns[i])
			return -ENODATA;
		diff->samples[i] = (double)samples;
		diff->assumes_samples[i] = !samples;
		if (!samples)
			diff->samples[i] = (double)diff->time_ns[i] /
					   (double)(period_ns ? period_ns : PERIOD_DEFAULT_NS);
		if (diff->samples[i] < 1)
			diff->samples[i] = 1;
	}
	return 0;
}

/* Adds the times of a recording to values by function or node. `totals` has room for its nodes. */
static void add_nodes(const struct profile_diff *diff, size_t recording,
		      enum profile_diff_kind kind, double *totals, double *values)
{
	const struct ls_profile *profile = diff->from[recording];

	for (uint32_t id = 1; id <= profile->node_count; id++)
		totals[id] = (double)profile->nodes[id].self_ns;
	for (uint32_t id = profile->node_count; id; id--) {
		const struct ls_profile_node *node = &profile->nodes[id];

		if (kind == PROFILE_DIFF_SELF && node->function)
			values[joined_profile__function(diff->joined, recording, node->function)] +=
				totals[id];
		else if (kind == PROFILE_DIFF_STACK)
			values[joined_profile__node(diff->joined, recording, id)] += totals[id];
		if (kind != PROFILE_DIFF_SELF)
			totals[node->parent] += totals[id];
	}
}

/*
 * Functions' totals, of the nodes of the whole: a node whose function is also above it adds
 * nothing. `active` counts how often a function is on the stack that is being visited.
 */
static void add_functions(const struct profile_diff *diff, const double *of_nodes, uint32_t *active,
			  double *values)
{
	const struct ls_profile *whole = joined_profile__profile(diff->joined);

	for (uint32_t i = 0; i < whole->category_count; i++) {
		uint32_t root = whole->categories[i].node, id = root;
		bool is_entered = false;

		while (id) {
			const struct ls_profile_node *node = &whole->nodes[id];

			if (!is_entered && node->function && !active[node->function]++)
				values[node->function] += of_nodes[id];
			if (!is_entered && node->first_child) {
				id = node->first_child;
				continue;
			}
			if (node->function)
				active[node->function]--;
			is_entered = !node->next_sibling;
			id = id == root ? 0 : is_entered ? node->parent : node->next_sibling;
		}
	}
}

/* Fills values[recording * items + item] with nanoseconds. */
static int fill(const struct profile_diff *diff, enum profile_diff_kind kind, size_t items,
		double *values)
{
	const struct ls_profile *whole = joined_profile__profile(diff->joined);
	uint32_t *active = calloc((size_t)whole->function_count + 1, sizeof(*active));
	double *of_nodes = calloc((size_t)whole->node_count + 1, sizeof(*of_nodes));
	int error = active && of_nodes ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < diff->count; i++) {
		double *totals = calloc((size_t)diff->from[i]->node_count + 1, sizeof(*totals));

		if (!totals) {
			error = -ENOMEM;
		} else if (kind == PROFILE_DIFF_TOTAL) {
			memset(of_nodes, 0, ((size_t)whole->node_count + 1) * sizeof(*of_nodes));
			add_nodes(diff, i, PROFILE_DIFF_STACK, totals, of_nodes);
			add_functions(diff, of_nodes, active, &values[i * items]);
		} else {
			add_nodes(diff, i, kind, totals, &values[i * items]);
		}
		free(totals);
	}
	free(active);
	free(of_nodes);
	return error;
}

/* What a value is a part of, in nanoseconds: the recording's own time, or that of one before. */
static double unit_of(const struct profile_diff *diff, size_t recording, bool by_time)
{
	double sum = 0;

	if (!by_time)
		return (double)diff->time_ns[recording];
	for (size_t i = 0; i < diff->before_count; i++)
		sum += (double)diff->time_ns[i];
	return sum / (double)diff->before_count;
}

/* Bonferroni: all kinds of rows share the chance of a false alarm. */
static void correct_for_kinds(const struct profile_diff *diff, enum profile_diff_kind kind)
{
	for (uint32_t id = 0; id <= highest_of(diff, kind); id++) {
		struct diff_row *row = &diff->rows[kind][id];

		row->chance = fmin(1, row->chance * PROFILE_DIFF_KINDS);
	}
}

static int compare(struct profile_diff *diff, enum profile_diff_kind kind,
		   const struct profile_diff_settings *settings)
{
	size_t items = (size_t)highest_of(diff, kind) + 1;
	double *values = calloc(items * diff->count, sizeof(*values)), noise;
	struct diff_statistics statistics = {
		.before_count = diff->before_count,
		.count = diff->count,
		.samples = diff->samples,
		.grain = diff->grain,
		.are_shares = !settings->by_time,
		.noise = settings->noise,
		.alpha = (1 - settings->confidence) / PROFILE_DIFF_KINDS,
	};
	int error = values ? fill(diff, kind, items, values) : -ENOMEM;

	for (size_t i = 0; !error && i < diff->count; i++) {
		double unit = unit_of(diff, i, settings->by_time);

		diff->grain[i] = (double)diff->time_ns[i] / diff->samples[i] / unit;
		for (size_t j = 0; j < items; j++)
			values[i * items + j] /= unit;
	}
	if (!error) {
		noise = diff_statistics__compare(&statistics, values, items, diff->rows[kind]);
		error = noise < 0 ? -ENOMEM : 0;
		correct_for_kinds(diff, kind);
		if (kind == PROFILE_DIFF_SELF)
			diff->noise = noise;
	}
	free(values);
	return error;
}

int profile_diff__new(const struct ls_profile *const *from, size_t count, size_t before_count,
		      const struct profile_diff_settings *settings, struct profile_diff **made,
		      size_t *empty)
{
	struct profile_diff *diff = calloc(1, sizeof(*diff));
	int error = -ENOMEM;

	*made = NULL;
	if (!diff)
		return error;
	diff->from = from;
	diff->count = count;
	diff->before_count = before_count;
	error = joined_profile__new_sides(from, count, before_count, &diff->joined);
	if (!error)
		error = allocate(diff);
	if (!error)
		error = count_samples(diff, empty);
	for (int kind = 0; !error && kind < PROFILE_DIFF_KINDS; kind++)
		error = compare(diff, kind, settings);
	if (error)
		profile_diff__free(diff);
	else
		*made = diff;
	return error;
}

void profile_diff__free(struct profile_diff *diff)
{
	if (!diff)
		return;
	joined_profile__free(diff->joined);
	for (int kind = 0; kind < PROFILE_DIFF_KINDS; kind++)
		free(diff->rows[kind]);
	free(diff->samples);
	free(diff->grain);
	free(diff->time_ns);
	free(diff->assumes_samples);
	free(diff);
}

const struct ls_profile *profile_diff__profile(const struct profile_diff *diff)
{
	return joined_profile__profile(diff->joined);
}

const struct diff_row *profile_diff__rows(const struct profile_diff *diff,
					  enum profile_diff_kind kind)
{
	return diff->rows[kind];
}

uint32_t profile_diff__highest(const struct profile_diff *diff, enum profile_diff_kind kind)
{
	return highest_of(diff, kind);
}

struct profile_diff_side profile_diff__side(const struct profile_diff *diff, bool is_after)
{
	struct profile_diff_side side = {};

	for (size_t i = 0; i < diff->count; i++) {
		if ((i >= diff->before_count) != is_after)
			continue;
		side.recordings++;
		side.time_ns += diff->time_ns[i];
		side.samples += diff->samples[i];
		side.assumes_samples |= diff->assumes_samples[i];
	}
	return side;
}

double profile_diff__noise(const struct profile_diff *diff)
{
	return diff->noise;
}
