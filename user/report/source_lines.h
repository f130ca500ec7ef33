/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The source text of hot lines and of those around them, as far as it is readable (source_text.h),
 * for the page: at most SOURCE_LINES_HOT hot lines, and SOURCE_LINES_BYTES bytes of text.
 */
#ifndef LS_SOURCE_LINES_H
#define LS_SOURCE_LINES_H

#include <stddef.h>

#include "report/report_data.h"

#define SOURCE_LINES_HOT    2000
#define SOURCE_LINES_BYTES  (1U << 20)
#define SOURCE_LINES_AROUND 3 /* lines before and after, as the page shows them */

struct source_lines {
	struct ls_profile_text *texts;
	size_t count, room, bytes;
};

/*
 * Those of a recording, whose path is `path`. Sources are borrowed from the profile. 0 or -ENOMEM.
 * Free in either case.
 */
int source_lines__read(const struct ls_profile *profile, const char *path,
		       struct source_lines *lines);
void source_lines__free(struct source_lines *lines);

#endif
