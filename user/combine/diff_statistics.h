/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of many values differ between two groups of recordings by more than noise.
 *
 * A value is a share of a recording's time, or a time as a share of the time before. Two things
 * make it differ between recordings of the same program:
 *
 * sampling  A share p of N samples has the variance p (1 - p) / N. A time's is that of a count.
 * runs      A function does not take quite the same time in each run. Where a group has several
 *           recordings, they tell by how much: what they differ by, beyond sampling, is pooled over
 *           all values, and a value that differs by more than the others counts with that, too. A
 *           part of the time, `noise`, is what is assumed at least. One recording a group tells
 *           nothing; then, what takes less than 1% counts as 1%.
 *
 * The difference of the groups' means, over its standard error, is compared with Student's
 * distribution (the normal one if there is one recording a group). Many values are compared, so the
 * level is Holm's: the chance that one or more of all values is called different by noise alone is
 * at most `alpha`.
 */
#ifndef LS_DIFF_STATISTICS_H
#define LS_DIFF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

enum diff_verdict {
	DIFF_NOISE, /* no difference that noise does not explain */
	DIFF_SLOWER,
	DIFF_FASTER,
};

struct diff_row {
	double before, after; /* means */
	double error;         /* standard error of after - before */
	double chance;        /* of such a difference by noise alone, corrected; 0 to 1 */
	enum diff_verdict verdict;
};

struct diff_statistics {
	size_t before_count, count; /* recordings: those before come first */
	const double *samples;      /* by recording: how many it has; more than 0 */
	const double *grain;        /* by recording: what one sample adds to a value */
	bool are_shares;            /* values are shares of the recording, not times */
	double noise;               /* 0.02: a function's time differs by 2% from run to run */
	double alpha;
};

/*
 * values[recording * items + item] are compared item by item, into rows[items]. Values with fewer
 * samples than DIFF_SAMPLES_LEAST in all recordings are never called different. Returns the noise
 * that was assumed; below 0 when out of memory.
 */
#define DIFF_SAMPLES_LEAST 20
double diff_statistics__compare(const struct diff_statistics *statistics, const double *values,
				size_t items, struct diff_row *rows);

#endif
