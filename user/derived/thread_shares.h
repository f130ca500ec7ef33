/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a node's self time and samples that each thread has, from the timeline: for formats
 * that label samples but do not order them. There are none without a timeline, or if no category
 * has more than one thread.
 */
#ifndef LS_THREAD_SHARES_H
#define LS_THREAD_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct thread_share {
	uint32_t node;
	uint32_t thread; /* id */
	uint64_t us, samples;
};

/* In the order of nodes, and of threads in these. Free items with free(). */
struct thread_shares {
	struct thread_share *items;
	size_t count;
};

/*
 * The times of a node's shares add up to its self time, their samples to those on the timeline. 0
 * or -ENOMEM.
 */
int thread_shares__make(const struct ls_profile *profile, const struct ls_totals *totals,
			struct thread_shares *shares);

/* Those of a node, *count of them; NULL: it has none. */
const struct thread_share *thread_shares__of(const struct thread_shares *shares, uint32_t node,
					     size_t *count);

#endif
