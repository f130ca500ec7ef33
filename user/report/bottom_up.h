/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Self time by function, and below each function the callers that it was spent for. Calls of a
 * function by itself are one.
 */
#ifndef LS_BOTTOM_UP_H
#define LS_BOTTOM_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"

#define BOTTOM_UP_DEPTH 64 /* callers of a function */

struct bottom_up;

/*
 * Leaves out functions with less self time than `least_us`. Names are borrowed from the profile. 0
 * or -ENOMEM; *made is then NULL.
 */
int bottom_up__new(const struct ls_profile *profile, const struct ls_totals *totals,
		   uint64_t least_us, struct bottom_up **made);
void bottom_up__free(struct bottom_up *bottom_up);

/* The tree, below the one category of this profile; none if there is no such function. */
const struct ls_profile *bottom_up__profile(const struct bottom_up *bottom_up);
const struct ls_totals *bottom_up__totals(const struct bottom_up *bottom_up);

/* Whether callers beyond BOTTOM_UP_DEPTH were left out. */
bool bottom_up__is_cut(const struct bottom_up *bottom_up);

#endif
