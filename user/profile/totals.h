/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Durations in whole microseconds that add up: a node's total is exactly its own time plus its
 * children's totals, the categories' sum is the charged time rounded down once, and a function's
 * total counts recursion once. The lines of a function add up to at most its self time: the rest
 * was spent on unknown lines.
 */
#ifndef LS_TOTALS_H
#define LS_TOTALS_H

#include <stdint.h>

#include "profile/profile.h"

/* Arrays indexed by id, element 0 unused. */
struct ls_totals {
	uint64_t *node_total_us;
	uint64_t *function_total_us;
	uint64_t *function_self_us;
	uint64_t *line_self_us; /* by index into the profile's lines, from 0 */
	uint64_t all_us;        /* sum of the categories */
};

/* 0 or -ENOMEM. Free with totals__free(), also after a failure. */
int totals__compute(const struct ls_profile *profile, struct ls_totals *totals);
void totals__free(struct ls_totals *totals);

/* A node's own time in microseconds: its total less those of its children. */
uint64_t totals__node_self_us(const struct ls_profile *profile, const struct ls_totals *totals,
			      uint32_t node);

#endif
