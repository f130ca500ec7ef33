/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What became of every sample and of all CPU time. */
#ifndef LS_ACCOUNTING_H
#define LS_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/printer.h"

/*
 * Prints the accounting. Without `all`, only what went wrong: samples that are not whole and time
 * without samples, if they are more than 1%, and whatever else the file lacks. Nothing if nothing
 * did.
 */
void accounting__print(const struct printer *printer, const struct ls_profile *profile,
		       const struct ls_totals *totals, bool all);

/* CPU time with script on the stack; that of the garbage collector is part of it. */
uint64_t accounting__script_us(const struct ls_profile *profile, const struct ls_totals *totals);

/* CPU time of script in coroutines that --coroutine did not select. */
uint64_t accounting__unselected_us(const struct ls_profile *profile,
				   const struct ls_totals *totals);

#endif
