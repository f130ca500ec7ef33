/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether functions look alike in a file: same source, name, line and flags. */
#ifndef LS_FUNCTION_LOOKS_H
#define LS_FUNCTION_LOOKS_H

#include <stdbool.h>

#include "profile/profile.h"

/* Less than, equal to or greater than 0, for qsort(). */
int function_looks__compare(const struct ls_profile_function *a,
			    const struct ls_profile_function *b);

/*
 * Whether `wanted` names the function: NAME, without the place of a C function that its callers
 * name, or CHUNK:LINE where CHUNK may lack leading folders. Pseudo functions have no name to be
 * found by.
 */
bool function_looks__fit(const struct ls_profile_function *function, const char *wanted);

#endif
