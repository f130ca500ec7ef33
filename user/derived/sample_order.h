/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as a sequence of stacks with durations that add up to its totals. A node's self time is
 * divided among its samples on the timeline. The time of nodes without such samples, for example
 * because the timeline was full, comes last, on thread 0; without a timeline, all time does, in
 * depth-first order.
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
	/* Since the session's start: when it was taken or, if laid out, begins. Thread 0: 0. */
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

/* Groups the samples by category and, within a category, by thread. 0 or -ENOMEM. */
int sample_order__group(struct sample_order *order);

/* After grouping: the end of the samples with the category and thread of the one at `first`. */
size_t sample_order__group_end(const struct sample_order *order, size_t first);

/* Likewise, of the samples with its category. */
size_t sample_order__category_end(const struct sample_order *order, size_t first);

/*
 * After grouping: lays out the samples of each group in time, for charts. at_us becomes the time at
 * which a sample begins: it ends when it was taken, or later if the one before it leaves no room.
 * Pauses shorter than half of the profile's period are closed. Samples of thread 0 follow each
 * other from 0.
 */
void sample_order__lay_out(struct sample_order *order, const struct ls_profile *profile);

#endif
