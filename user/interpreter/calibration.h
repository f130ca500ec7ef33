/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Has a family derive the layout of a process whose script fits none that is known, and makes it a
 * candidate: samples decide on it as on any other. It is kept for all processes that come later,
 * whose samples check it again. Only some families can do that (family->calibrate).
 */
#ifndef LS_CALIBRATION_H
#define LS_CALIBRATION_H

#include <sys/types.h>

#include "interpreter/inspection.h"
#include "interpreter/layout_vote.h"

/* What was tried in one process. Zeroed: nothing. */
struct calibration {
	unsigned int tries;
	char reason[CALIBRATION_REASON_SIZE]; /* why the last one failed; "": none has */
};

/*
 * Calibrates for those votes that have had enough samples which fit nothing; call it with every
 * round. `is_last`: no more samples will come, so one is enough. `target` is for messages. Returns
 * true if a vote has a new candidate.
 */
bool calibration__try(struct calibration *calibration, struct inspector *inspector, pid_t pid,
		      struct layout_votes *votes, bool is_last, const char *target);

#endif
