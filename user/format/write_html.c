/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page of user/page/ with the profile as ScriptProfiler JSON in it. The characters "<", ">" and
 * "&" of the profile are escaped, so no name can end the element that holds it.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "format/format.h"
#include "page.inc"
#include "format/write_scriptprofiler.h"

/* JSON has these characters in strings only, where \u escapes may stand for them. */
static const char *escape_of(char character)
{
	switch (character) {
	case '<':
		return "\\u003c";
	case '>':
		return "\\u003e";
	case '&':
		return "\\u0026";
	default:
		return NULL;
	}
}

static bool put(FILE *stream, const void *bytes, size_t length)
{
	return fwrite(bytes, 1, length, stream) == length;
}

/* For fopencookie(): returns 0 on failure. */
static ssize_t write_escaped(void *cookie, const char *bytes, size_t length)
{
	FILE *stream = cookie;
	size_t written = 0;

	for (size_t at = 0; at < length; at++) {
		const char *escape = escape_of(bytes[at]);

		if (!escape)
			continue;
		if (!put(stream, bytes + written, at - written) || fputs(escape, stream) == EOF)
			return 0;
		written = at + 1;
	}
	return put(stream, bytes + written, length - written) ? (ssize_t)length : 0;
}

static int write_profile(const struct ls_profile *profile, const struct ls_totals *totals,
			 FILE *stream)
{
	const cookie_io_functions_t functions = {.write = write_escaped};
	FILE *escaping = fopencookie(stream, "w", functions);
	int error;

	if (!escaping)
		return -ENOMEM;
	error = write_scriptprofiler(profile, totals, escaping);
	errno = 0;
	if (fclose(escaping) && !error)
		error = errno ? -errno : -EIO;
	return error;
}

int write_html(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	int error;

	errno = 0;
	if (!put(stream, page_before, sizeof(page_before)))
		return errno ? -errno : -EIO;
	error = write_profile(profile, totals, stream);
	if (error)
		return error;
	errno = 0;
	if (!put(stream, page_after, sizeof(page_after)))
		return errno ? -errno : -EIO;
	return 0;
}
