/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The progress line of a running session. It is shown only if standard error is a terminal that can
 * clear a line (TERM is not "dumb"), and not under -q.
 */
#ifndef LS_PROGRESS_H
#define LS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t elapsed_ns;
	uint64_t duration_ns; /* 0: no limit */
	bool is_waiting;      /* sampling has not begun; the times are those until it begins */
	uint64_t samples;
	uint64_t script_samples;
	uint64_t lost; /* samples that were dropped or unreadable */
	bool is_paused;
};

/*
 * Redraws the line, cut off at the terminal's width. Does nothing if the last redraw was less than
 * a fifth of a second ago, so callers need not limit their calls.
 */
void progress__show(const struct progress *progress);

/* Clears the line if it is shown. Called before any other message and at the end. */
void progress__clear(void);

#endif
