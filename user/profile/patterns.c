/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/patterns.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int patterns__add(struct patterns *patterns, const char *glob)
{
	if (!*glob)
		return -EINVAL;
	if (patterns->count == PATTERNS_MAX)
		return -E2BIG;
	patterns->globs[patterns->count++] = glob;
	return 0;
}

/* fnmatch() takes a bracket as the start of a character set, but nobody wants these as sets. */
static bool fits_glob(const char *glob, const char *text)
{
	static const char *const literal[] = {"[C]", "[string "};

	for (size_t i = 0; i < sizeof(literal) / sizeof(literal[0]); i++) {
		size_t length = strlen(literal[i]);

		if (strncmp(glob, literal[i], length))
			continue;
		if (!strcmp(glob, text))
			return true;
		if (strncmp(text, literal[i], length))
			return false;
		glob += length;
		text += length;
		break;
	}
	return !fnmatch(glob, text, 0);
}

static bool fits(const struct patterns *patterns, const char *text)
{
	for (uint32_t i = 0; i < patterns->count; i++)
		if (fits_glob(patterns->globs[i], text))
			return true;
	return false;
}

bool patterns__fit_chunk(const struct patterns *patterns,
			 const struct ls_profile_function *function)
{
	return function->source && fits(patterns, function->source);
}

int patterns__fit(const struct patterns *patterns, const struct ls_profile_function *function)
{
	char *named = NULL, *placed = NULL;
	int fit = -ENOMEM;

	if (!function->source || !patterns->count)
		return 0;
	if (fits(patterns, function->source) || (function->name && fits(patterns, function->name)))
		return 1;
	if (asprintf(&named, "%s:%s", function->source, function->name ? function->name : "") < 0) {
		named = NULL;
		goto cleanup;
	}
	if (asprintf(&placed, "%s:%" PRIu32, function->source, function->line) < 0) {
		placed = NULL;
		goto cleanup;
	}
	fit = (function->name && fits(patterns, named)) ||
	      (function->line && fits(patterns, placed));
cleanup:
	free(named);
	free(placed);
	return fit;
}
