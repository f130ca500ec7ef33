/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each thread has of a node's own time and samples, for formats whose samples have no order
 * but can have a label. The timeline tells; without one, and where each category has one thread
 * only, there is nothing to tell.
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
 * Of a node that has any, the times add up to its own time, but the samples only to those on the
 * timeline. 0 or -ENOMEM.
 */
int thread_shares__make(const struct ls_profile *profile, const struct ls_totals *totals,
			struct thread_shares *shares);

/* Those of a node, *count of them; NULL: it has none. */
const struct thread_share *thread_shares__of(const struct thread_shares *shares, uint32_t node,
					     size_t *count);

#endif
