/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call graph, for formats without stacks. Functions here are the profile's, by id, followed by
 * its categories, at function_count + 1 + index.
 *
 * The arcs to a function add up to its total, which readers compute from them: of recursive calls,
 * only the outermost one counts, with all of the function's self time below it. A call of a
 * function that is on the stack already adds no time, so an arc may have none.
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
	bool has_samples; /* false: the profile has none, and microseconds take their place */
};

/* 0 or -ENOMEM. Free with call_arcs__free(), also after a failure. */
int call_arcs__make(const struct ls_profile *profile, const struct ls_totals *totals,
		    struct call_arcs *arcs);
void call_arcs__free(struct call_arcs *arcs);

/*
 * Finds functions that call each other in a cycle: sets cycles[function] to the number of its
 * cycle, from 1, or to 0 if it is in none; a function that only calls itself is in none.
 * `functions` is the highest function; the arcs of a caller must be adjacent. Returns the number of
 * cycles, or -ENOMEM.
 */
int64_t call_arcs__find_cycles(const struct call_arcs *arcs, uint32_t functions, uint32_t *cycles);

#endif
