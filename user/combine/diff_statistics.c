/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/diff_statistics.h"

#include <math.h>
#include <stdlib.h>

/* How many recordings the variance that all values share counts as, beside a value's own. */
#define PRIOR_DEGREES 4.0

/*
 * Where recordings do not tell how runs differ, values below 1% count as 1%: what takes little time
 * may take a multiple of it in the next run.
 */
#define ARM_LEAST 0.01

/* Both groups' values of an item. */
struct item {
	double mean[2];   /* before and after */
	double all;       /* mean of all recordings, by samples */
	double spread[2]; /* sum of squared differences from the group's mean */
};

struct comparing {
	const struct diff_statistics *statistics;
	const double *values;
	size_t items;
	double degrees; /* of freedom that the groups have together */
	double noise;
};

static double value_at(const struct comparing *comparing, size_t recording, size_t item)
{
	return comparing->values[recording * comparing->items + item];
}

static size_t group_of(const struct diff_statistics *statistics, size_t recording)
{
	return recording >= statistics->before_count;
}

static double size_of(const struct diff_statistics *statistics, size_t group)
{
	return (double)(group ? statistics->count - statistics->before_count
			      : statistics->before_count);
}

static struct item item_at(const struct comparing *comparing, size_t index)
{
	const struct diff_statistics *statistics = comparing->statistics;
	struct item item = {};
	double samples = 0;

	for (size_t i = 0; i < statistics->count; i++) {
		double value = value_at(comparing, i, index);
		size_t group = group_of(statistics, i);

		item.mean[group] += value / size_of(statistics, group);
		item.all += value * statistics->samples[i];
		samples += statistics->samples[i];
	}
	item.all /= samples;
	for (size_t i = 0; i < statistics->count; i++) {
		size_t group = group_of(statistics, i);
		double off = value_at(comparing, i, index) - item.mean[group];

		item.spread[group] += off * off;
	}
	return item;
}

/* How much a value moves if the item's own time grows by all of it: little if it is nearly all. */
static double lever(const struct comparing *comparing, double value)
{
	return comparing->statistics->are_shares ? value * (1 - value) : value;
}

/* The variance of a recording's value by sampling. One sample more keeps it above 0. */
static double sampling_variance(const struct comparing *comparing, size_t recording, double value)
{
	const struct diff_statistics *statistics = comparing->statistics;
	double samples = statistics->samples[recording];
	double share = (value * samples + 1) / (samples + 2);

	if (statistics->are_shares)
		return share * (1 - share) / samples;
	return (value + statistics->grain[recording]) * statistics->grain[recording];
}

static double model_variance(const struct comparing *comparing, size_t recording, double value)
{
	double arm = lever(comparing, value), run;

	run = comparing->noise * (comparing->degrees > 0 ? arm : fmax(arm, ARM_LEAST));
	return sampling_variance(comparing, recording, value) + run * run;
}

/* What recordings of a group differ by beyond sampling, as a part of a value's own time. */
static double find_noise(const struct comparing *comparing)
{
	const struct diff_statistics *statistics = comparing->statistics;
	double excess = 0, levers = 0;

	for (size_t i = 0; i < comparing->items && comparing->degrees > 0; i++) {
		struct item item = item_at(comparing, i);

		excess += item.spread[0] + item.spread[1];
		for (size_t j = 0; j < statistics->count; j++) {
			double size = size_of(statistics, group_of(statistics, j));
			double part = (size - 1) / size, arm = lever(comparing, item.all);

			excess -= part * sampling_variance(comparing, j, item.all);
			levers += part * arm * arm;
		}
	}
	if (excess <= 0 || levers <= 0)
		return statistics->noise;
	return fmax(statistics->noise, sqrt(excess / levers));
}

/* How many times the modelled variance the recordings of the groups have: 1 or more. */
static double own_factor(const struct comparing *comparing, const struct item *item)
{
	const struct diff_statistics *statistics = comparing->statistics;
	double expected = 0, found = item->spread[0] + item->spread[1];

	for (size_t i = 0; i < statistics->count; i++) {
		double size = size_of(statistics, group_of(statistics, i));

		expected += (size - 1) / size * model_variance(comparing, i, item->all);
	}
	if (expected <= 0)
		return 1;
	return fmax(1, (PRIOR_DEGREES + comparing->degrees * found / expected) /
			       (PRIOR_DEGREES + comparing->degrees));
}

/* The chance of a value of Student's distribution as far out, on either side: Wallace (1959). */
static double chance_of(const struct comparing *comparing, double t)
{
	double degrees = comparing->degrees + PRIOR_DEGREES;

	if (comparing->degrees > 0)
		t = (8 * degrees + 1) / (8 * degrees + 3) * sqrt(degrees * log1p(t * t / degrees));
	return erfc(fabs(t) / sqrt(2));
}

static struct diff_row compare(const struct comparing *comparing, size_t index)
{
	const struct diff_statistics *statistics = comparing->statistics;
	struct item item = item_at(comparing, index);
	double variance = 0, samples = 0;
	struct diff_row row = {.before = item.mean[0], .after = item.mean[1], .chance = 1};

	for (size_t i = 0; i < statistics->count; i++) {
		double size = size_of(statistics, group_of(statistics, i));

		variance += model_variance(comparing, i, item.all) / (size * size);
		samples += value_at(comparing, i, index) / statistics->grain[i];
	}
	row.error = sqrt(variance * own_factor(comparing, &item));
	if (samples >= DIFF_SAMPLES_LEAST && row.error > 0)
		row.chance = chance_of(comparing, (row.after - row.before) / row.error);
	return row;
}

struct place {
	double chance;
	size_t index;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->chance > b->chance) - (a->chance < b->chance);
}

/* Holm: the smallest of m chances is multiplied by m, the next one by m - 1, and so on. */
static void correct(const struct diff_statistics *statistics, struct place *places, size_t count,
		    struct diff_row *rows)
{
	double highest = 0;

	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){rows[i].chance, i};
	qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count; i++) {
		struct diff_row *row = &rows[places[i].index];

		highest = fmin(1, fmax(highest, places[i].chance * (double)(count - i)));
		row->chance = highest;
		if (highest < statistics->alpha)
			row->verdict = row->after > row->before ? DIFF_SLOWER : DIFF_FASTER;
	}
}

double diff_statistics__compare(const struct diff_statistics *statistics, const double *values,
				size_t items, struct diff_row *rows)
{
	struct comparing comparing = {.statistics = statistics,
				      .values = values,
				      .items = items,
				      .degrees = (double)statistics->count - 2};
	struct place *places = calloc(items + 1, sizeof(*places));

	if (!places)
		return -1;
	comparing.noise = find_noise(&comparing);
	for (size_t i = 0; i < items; i++)
		rows[i] = compare(&comparing, i);
	correct(statistics, places, items, rows);
	free(places);
	return comparing.noise;
}
