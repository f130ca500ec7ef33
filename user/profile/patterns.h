/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command-line globs that select functions: fnmatch() without flags, so "*" matches slashes, too.
 * A leading "[C]" or "[string " is taken literally, since Lua's chunk names begin like that.
 */
#ifndef LS_PATTERNS_H
#define LS_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

#define PATTERNS_MAX 64

struct patterns {
	const char *globs[PATTERNS_MAX]; /* borrowed */
	uint32_t count;
};

/* 0; -EINVAL: the glob is empty; -E2BIG: there are already PATTERNS_MAX. */
int patterns__add(struct patterns *patterns, const char *glob);

/* Whether a glob matches the function's chunk. Functions without a source are in no chunk. */
bool patterns__fit_chunk(const struct patterns *patterns,
			 const struct ls_profile_function *function);

/*
 * 1 if a glob matches the function's NAME, CHUNK, CHUNK:NAME or CHUNK:LINE (line of definition),
 * else 0, or -ENOMEM. Functions without a source match none.
 */
int patterns__fit(const struct patterns *patterns, const struct ls_profile_function *function);

#endif
