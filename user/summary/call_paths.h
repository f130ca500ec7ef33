/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call tree as text: its hottest path, all of it, or what calls one function. Names are
 * escaped, and every number of lines is limited. Where memory runs out, a line says so.
 */
#ifndef LS_CALL_PATHS_H
#define LS_CALL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/printer.h"
#include "summary/row_choice.h"

/*
 * From the root on, the child with the largest total, as long as that is a third of its parent's
 * and 5% of all. Calls of a function by itself, directly or not, count as one. Functions with
 * nearly the same time share a line. Prints nothing if no child has 5%.
 */
void call_paths__print_hottest(const struct printer *printer, const struct ls_profile *profile,
			       const struct ls_totals *totals);

/* The call tree, `depth` calls deep, without what has less than 0.5% of all CPU time. */
void call_paths__print_tree(const struct printer *printer, const struct ls_profile *profile,
			    const struct ls_totals *totals, uint32_t depth);

/*
 * What calls the functions that `wanted` names: NAME, or CHUNK:LINE where CHUNK may lack leading
 * folders. Shares are of such a function's total time, in which calls by itself count once.
 */
void call_paths__print_callers(const struct printer *printer, const struct ls_profile *profile,
			       const struct ls_totals *totals, const char *wanted);

/* A part of a call tree to print. */
struct call_paths_part {
	uint32_t root; /* the node whose children are at the margin; 0: the categories are */
	uint32_t depth;
	uint64_t whole_us; /* shares are of this */
	bool has_self;     /* with shares of self time */
	bool has_times;    /* with total times */
	/* Nodes to print, and their order, but for the limit; NULL: from 0.5% of the whole on. */
	const struct row_choice *choice;
	unsigned lines_left;
	bool is_cut;  /* set if calls deeper than `depth` were left out */
	bool is_full; /* set if there were too few lines */
};

/* Prints at most part->lines_left lines, which it subtracts. 0 or -ENOMEM. */
int call_paths__print_part(const struct printer *printer, const struct ls_profile *profile,
			   const struct ls_totals *totals, struct call_paths_part *part);

#endif
