/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions call which, for formats without stacks. Functions here are the profile's, by id,
 * and behind them its categories, by function_count + 1 + index.
 *
 * The arcs to a function add up to its total, which is how readers compute that: of recursive calls
 * only the outermost one counts, so an arc to a function that is on the stack already has nothing.
 */
#ifndef LS_CALL_ARCS_H
#define LS_CALL_ARCS_H

#include <stddef.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct call_arc {
	uint32_t caller, callee;
	uint64_t us, samples;
};

struct call_arcs {
	struct call_arc *arcs; /* sorted by caller, then callee */
	size_t count;
};

/* 0 or -ENOMEM. Free with call_arcs__free(), also after a failure. */
int call_arcs__make(const struct ls_profile *profile, const struct ls_totals *totals,
		    struct call_arcs *arcs);
void call_arcs__free(struct call_arcs *arcs);

#endif
