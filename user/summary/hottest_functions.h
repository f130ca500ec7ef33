/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that took the most CPU time, as a table with bars. */
#ifndef LS_HOTTEST_FUNCTIONS_H
#define LS_HOTTEST_FUNCTIONS_H

#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/category_words.h"
#include "summary/printer.h"
#include "summary/row_choice.h"

/*
 * The ten script and C functions with the most self time; shares are of all charged CPU time, and
 * those of hot lines of the function's own. Names are escaped; bars are blocks where the printer
 * has UTF-8, and number signs elsewhere. Each row is fitted by itself. Of several processes, the
 * one with most of a function's self time is beside it, if the width allows, and how many others
 * have some.
 */
void hottest_functions__print(const struct printer *printer, const struct ls_profile *profile,
			      const struct ls_totals *totals, const struct category_words *words);

/*
 * The same table of those that are chosen, under `title`. With ROW_ORDER_TOTAL, times and bars are
 * of total times. 0 or -ENOMEM: nothing was printed.
 */
int hottest_functions__print_chosen(const struct printer *printer, const struct ls_profile *profile,
				    const struct ls_totals *totals,
				    const struct category_words *words,
				    const struct row_choice *choice, const char *title);

/*
 * The ids of the functions that are chosen, in order, malloc()ed; *count of *functions are within
 * the limit. Functions without self time are left out of those by self time, unless `least_us` or
 * `hidden` ask for them. 0 or -ENOMEM.
 */
int hottest_functions__choose(const struct ls_profile *profile, const struct ls_totals *totals,
			      const struct row_choice *choice, uint32_t **functions,
			      uint32_t *count);

/* The script or C function with the most self time; 0: none has any. */
uint32_t hottest_functions__first(const struct ls_profile *profile, const struct ls_totals *totals);

#endif
