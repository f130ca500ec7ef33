/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a session recorded and when it did not: switches its timers and keeps its events. */
#ifndef LS_PAUSES_H
#define LS_PAUSES_H

#include <stdbool.h>

#include "session/events.h"
#include "targets/targets.h"

struct pauses {
	struct targets *targets; /* borrowed */
	uint64_t start_ns;       /* CLOCK_MONOTONIC, of the session; the same below */
	uint64_t pause_ns;       /* when the present pause began, if there is one */
	uint64_t paused_ns;      /* total of the earlier pauses */
	bool has_switched;       /* timers were switched since pauses__confirm() */
	struct events events;
};

/* The session starts now, paused if its targets are. */
void pauses__start(struct pauses *pauses, struct targets *targets, uint64_t start_ns);

/*
 * A profile ended at `start_ns` and the next begins there, without the earlier events and pauses.
 */
void pauses__restart(struct pauses *pauses, uint64_t start_ns);

/* Adds an event that happens now: see events__add(). */
void pauses__note(struct pauses *pauses, const char *kind, const char *text);

/*
 * Pauses or resumes the session; does nothing if it is in that state already. `drain` takes in all
 * that BPF has sent. 0 or -errno.
 */
int pauses__set(struct pauses *pauses, bool is_paused, int (*drain)(void *context), void *context);

/* To be called regularly: switches timers a second time, see sampler__switch(). */
void pauses__confirm(struct pauses *pauses);

/* Fills in the recorder's pauses and events for a profile that ends at `end_ns`. */
void pauses__export(const struct pauses *pauses, uint64_t end_ns,
		    struct ls_profile_recorder *recorder);

/* Frees the events. */
void pauses__free(struct pauses *pauses);

#endif
