/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What differs between recordings before a change and after it, by function and by stack. */
#ifndef LS_PROFILE_DIFF_H
#define LS_PROFILE_DIFF_H

#include <stddef.h>

#include "combine/diff_statistics.h"
#include "profile/profile.h"

struct profile_diff;

struct profile_diff_settings {
	bool by_time;      /* CPU time as a part of that before, not shares of each recording's */
	double noise;      /* as in struct diff_statistics */
	double confidence; /* that nothing is called different that is not: 0.999 */
};

/* What is compared. */
enum profile_diff_kind {
	PROFILE_DIFF_SELF,  /* functions' own time */
	PROFILE_DIFF_TOTAL, /* functions' time with what they call; recursion counts once */
	PROFILE_DIFF_STACK, /* the time of nodes, with those below them */
	PROFILE_DIFF_KINDS,
};

/*
 * Compares `count` recordings, of which the first `before_count` are from before: at least one on
 * either side. They stay borrowed. 0; -ENOMEM; -ERANGE: they have more time than a recording can
 * hold; -ENODATA: one of them has no time, and *empty is its index. *diff is then NULL.
 */
int profile_diff__new(const struct ls_profile *const *from, size_t count, size_t before_count,
		      const struct profile_diff_settings *settings, struct profile_diff **diff,
		      size_t *empty);
void profile_diff__free(struct profile_diff *diff);

/* The functions and stacks of all recordings together, below one category. Owned by the diff. */
const struct ls_profile *profile_diff__profile(const struct profile_diff *diff);

/* Rows by id of function or node; row 0 is not used. */
const struct diff_row *profile_diff__rows(const struct profile_diff *diff,
					  enum profile_diff_kind kind);

/* The highest id, and so the index of the last row. */
uint32_t profile_diff__highest(const struct profile_diff *diff, enum profile_diff_kind kind);

/* Over all recordings of a side: CPU time and samples. */
struct profile_diff_side {
	size_t recordings;
	uint64_t time_ns;
	double samples;
	bool assumes_samples; /* a file does not count them: they are what its time would have */
};
struct profile_diff_side profile_diff__side(const struct profile_diff *diff, bool is_after);

/* By how much functions differ from run to run, as was assumed or found: 0.02. */
double profile_diff__noise(const struct profile_diff *diff);

#endif
