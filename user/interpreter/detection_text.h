/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What messages and profiles say of the interpreters in a process. */
#ifndef LS_DETECTION_TEXT_H
#define LS_DETECTION_TEXT_H

#include <stdint.h>

#include "base/text_list.h"
#include "interpreter/interpreters.h"

/* What was logged for other processes and is not logged again. Zeroed: nothing. */
struct announced {
	struct text_list interpreters;
	uint16_t layouts[LS_FAMILY_COUNT]; /* bit per layout that was decided */
};

/* Each joined by "; ". Zeroed: nothing was found. */
struct detection_text {
	char found[1024];     /* "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped" */
	char gc[512];         /* how the known garbage collectors were found */
	char gc_unknown[512]; /* why the others were not */
};

/*
 * Fills *text, and logs which interpreters were not there before; `announced` (NULL: nothing) is
 * brought up to date. `target` is for messages.
 */
void detection_text__tell(struct detection_text *text, const struct interpreters *found,
			  const struct interpreters *before, struct announced *announced,
			  const char *target);

#endif
