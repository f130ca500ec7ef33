/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions call which, for formats without stacks. Functions here are the profile's, by id,
 * and behind them its categories, by function_count + 1 + index.
 *
 * The arcs to a function add up to its total, which is how readers compute that: of recursive calls
 * only the outermost one counts, with all of the function's own time below it. A call of a function
 * that is on the stack already adds nothing, so an arc may have nothing.
 */
#ifndef LS_CALL_ARCS_H
#define LS_CALL_ARCS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct call_arc {
	uint32_t caller, callee;
	uint64_t us, self_us; /* self_us: of the callee */
	uint64_t samples;
	uint64_t calls; /* samples with this call anywhere on the stack, recursive ones too */
};

struct call_arcs {
	struct call_arc *arcs; /* sorted by caller, then callee */
	size_t count;
	bool has_samples; /* false: microseconds take the place of samples, for there are none */
};

/* 0 or -ENOMEM. Free with call_arcs__free(), also after a failure. */
int call_arcs__make(const struct ls_profile *profile, const struct ls_totals *totals,
		    struct call_arcs *arcs);
void call_arcs__free(struct call_arcs *arcs);

/*
 * Which functions call each other in a circle: sets cycles[function] to the number of its cycle,
 * from 1, or to 0 if it is in none, as a function that only calls itself. `functions` is the
 * highest one; the arcs of a caller have to be together. Returns how many cycles there are, or
 * -ENOMEM.
 */
int64_t call_arcs__find_cycles(const struct call_arcs *arcs, uint32_t functions, uint32_t *cycles);

#endif
