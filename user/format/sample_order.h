/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as a sequence of stacks with durations that add up to its totals. A node's own time is
 * shared out among its samples on the timeline. Time of nodes that have none, such as samples for
 * which the timeline had no room, comes last, with the thread 0; so does all time if there is no
 * timeline, in depth-first order.
 */
#ifndef LS_SAMPLE_ORDER_H
#define LS_SAMPLE_ORDER_H

#include <stddef.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct ordered_sample {
	uint32_t node;
	uint32_t thread;
	uint32_t category; /* index of the node's category */
	uint64_t us;
	/* When it was taken, since the session's start, or when it begins; of thread 0: 0. */
	uint64_t at_us;
};

struct sample_order {
	struct ordered_sample *samples;
	size_t count;
};

/* In the order of time. 0 or -ENOMEM. Free with sample_order__free(), also after a failure. */
int sample_order__make(const struct ls_profile *profile, const struct ls_totals *totals,
		       struct sample_order *order);
void sample_order__free(struct sample_order *order);

/* Puts the samples of each category together, and in these, those of each thread. 0 or -ENOMEM. */
int sample_order__group(struct sample_order *order);

/* After grouping: where the samples of the category and thread of the sample at `first` end. */
size_t sample_order__group_end(const struct sample_order *order, size_t first);

/* Likewise, those of its category. */
size_t sample_order__category_end(const struct sample_order *order, size_t first);

/*
 * After grouping: lays the samples of each group out in time, for charts. From now on, at_us is
 * when a sample begins: so that it ends when it was taken, or later, if the one before it does.
 * Pauses shorter than half of the profile's period are none. Samples of thread 0 follow each other
 * from 0.
 */
void sample_order__lay_out(struct sample_order *order, const struct ls_profile *profile);

#endif
