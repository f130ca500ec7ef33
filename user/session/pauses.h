/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a session recorded, and when it did not: switches its timers, keeps what happened when. */
#ifndef LS_PAUSES_H
#define LS_PAUSES_H

#include "events.h"
#include "targets.h"

struct pauses {
	struct targets *targets; /* borrowed */
	uint64_t start_ns;       /* CLOCK_MONOTONIC, of the session; the same below */
	uint64_t pause_ns;       /* since when it is paused, if it is */
	uint64_t paused_ns;      /* for how long it was before */
	int has_switched;        /* timers were, lately */
	struct events events;
};

/* The session starts now, paused if its targets are. */
void pauses__start(struct pauses *pauses, struct targets *targets, uint64_t start_ns);

/* What was is in a profile that ended at `start_ns`, where another begins. */
void pauses__restart(struct pauses *pauses, uint64_t start_ns);

/* Something happens now: see events.h. */
void pauses__note(struct pauses *pauses, const char *kind, const char *text);

/*
 * Pauses the session or has it go on; nothing where it is as wanted. `drain` takes in all that BPF
 * has sent. 0 or -errno.
 */
int pauses__set(struct pauses *pauses, int is_paused, int (*drain)(void *context), void *context);

/* To be called now and then: see sampler__switch(). */
void pauses__confirm(struct pauses *pauses);

/* Fills in what the recorder says of them, for a profile that ends at `end_ns`. */
void pauses__export(const struct pauses *pauses, uint64_t end_ns,
		    struct ls_profile_recorder *recorder);

/* Frees what is in it. */
void pauses__free(struct pauses *pauses);

#endif
