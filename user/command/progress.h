/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line that counts down while a session runs. Only where standard error is a terminal that
 * can clear a line (TERM is not "dumb"), and not under -q.
 */
#ifndef LS_PROGRESS_H
#define LS_PROGRESS_H

#include <stdint.h>

struct progress {
	uint64_t elapsed_ns;
	uint64_t duration_ns; /* 0: open end */
	int is_waiting;       /* for the first sample to be taken, until then */
	uint64_t samples;
	uint64_t script_samples;
	uint64_t lost; /* dropped and unreadable */
	int is_paused;
};

/*
 * Draws the line anew, cut off at the terminal's width; does nothing when the last time was less
 * than a fifth of a second ago, so it may be called as often as one likes.
 */
void progress__show(const struct progress *progress);

/* Takes the line off the terminal, if there is one; before any other message and at the end. */
void progress__clear(void);

#endif
