/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Self time by line of source, of all functions together. */
#ifndef LS_HOT_LINES_H
#define LS_HOT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "report/report_data.h"

struct hot_line {
	const char *source;
	uint32_t line;
	uint32_t function; /* with the most of it */
	uint64_t self_us;
	uint64_t source_us; /* of all lines of the source that are listed */
};

/*
 * The lines that the report chooses, malloc()ed: by source, the one with the most time first, or
 * by name, and in each by number. 0 or -ENOMEM.
 */
int hot_lines__list(const struct report *report, struct hot_line **lines, size_t *count);

#endif
