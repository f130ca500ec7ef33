/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that took the most CPU time, or the groups of --merge-by, as a table. */
#ifndef LS_PROCESS_TABLE_H
#define LS_PROCESS_TABLE_H

#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/printer.h"

/*
 * The ten categories with the most CPU time: their shares of all that was charged, how much of
 * their own is script, and the function in each with the most self time. Nothing if there are fewer
 * than two. Names are escaped, and shortened to fit.
 */
void process_table__print(const struct printer *printer, const struct ls_profile *profile,
			  const struct ls_totals *totals);

#endif
