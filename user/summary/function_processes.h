/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which process, or other category of a profile, spent most in a function. */
#ifndef LS_FUNCTION_PROCESSES_H
#define LS_FUNCTION_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"
#include "profile/totals.h"

struct function_process {
	uint32_t category; /* with the most self time: index into the profile's categories */
	uint32_t others;   /* how many have some, too */
};

/*
 * Finds that of each of `count` functions, which are ids with self time. 0 or -ENOMEM; *found is
 * then undefined.
 */
int function_processes__find(const struct ls_profile *profile, const struct ls_totals *totals,
			     const uint32_t *functions, unsigned count,
			     struct function_process *found);

/*
 * Formats "lua5.4 app.lua (pid 42) +2": the process, as process_table__fit_name() does, and the
 * number of others. Returns `to`.
 */
char *function_process__fit(const struct ls_profile *profile, const struct function_process *found,
			    unsigned columns, bool utf8, char *to, size_t size);

/* Columns of that text in full. */
unsigned function_process__width(const struct ls_profile *profile,
				 const struct function_process *found);

#endif
