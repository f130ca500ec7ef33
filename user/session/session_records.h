/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records of BPF, on their way to the targets and the recording; for session*.c alone. */
#ifndef LS_SESSION_RECORDS_H
#define LS_SESSION_RECORDS_H

#include "session/session_state.h"

/*
 * Loads the BPF programs, whose records go to the session from then on. 0, or -errno after logging
 * why.
 */
int session_records__open(struct session *session);

/* Takes in all that BPF has sent; `context` is the session. 0, or -errno after logging why. */
int session__drain(void *context);

/*
 * Limits all reading of targets, from now until the session waits again, to `ns` in total.
 * READING_NS is for reading while a profile is due.
 */
void session__limit_reading(struct session *session, uint64_t ns);
#define READING_NS UINT64_C(50000000)

#endif
