/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Globs of the command line that mean functions: fnmatch() without flags, so that "*" takes in
 * slashes, too. A "[C]" or "[string " at the beginning stands for itself, as Lua shows chunks.
 */
#ifndef LS_PATTERNS_H
#define LS_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

#define PATTERNS_MAX 64

struct patterns {
	const char *globs[PATTERNS_MAX]; /* borrowed */
	uint32_t count;
};

/* 0; -EINVAL: an empty one; -E2BIG: too many. */
int patterns__add(struct patterns *patterns, const char *glob);

/* Whether the function is defined in a chunk that one of them fits. Pseudo functions are in none.
 */
bool patterns__fit_chunk(const struct patterns *patterns,
			 const struct ls_profile_function *function);

/*
 * 1 if one of them fits its NAME, its CHUNK, CHUNK:NAME or CHUNK:LINE (where it is defined), else
 * 0, or -ENOMEM. Pseudo functions fit none.
 */
int patterns__fit(const struct patterns *patterns, const struct ls_profile_function *function);

#endif
