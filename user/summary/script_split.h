/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the scripts of a VM that compiles them spent their time. */
#ifndef LS_SCRIPT_SPLIT_H
#define LS_SCRIPT_SPLIT_H

#include <stddef.h>

#include "profile/profile.h"
#include "profile/totals.h"

/*
 * Writes "interpreted 3.1%, compiled 90.2%, C 4.0%, JIT compiler 0.6%, trace exit 0.2%": shares of
 * the charged CPU time, without the collector's. "" if nothing was compiled.
 */
void script_split__describe(const struct ls_profile *profile, const struct ls_totals *totals,
			    char *text, size_t size);

#endif
