/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by session.c, session_commands.c and session_parts.c only. */
#ifndef LS_SESSION_INTERNAL_H
#define LS_SESSION_INTERNAL_H

#include <sys/utsname.h>

#include "interpreter/inspection.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "session/baseline.h"
#include "session/overhead.h"
#include "session/pauses.h"
#include "session/session.h"
#include "target.h"
#include "targets/targets.h"

struct session {
	struct session_options options;
	struct inspector *inspector;
	struct sampler *sampler;
	struct recording *recording;
	struct targets *targets;
	struct pauses pauses;
	struct overhead overhead;
	uint64_t varied_ns; /* CLOCK_MONOTONIC: when the timers' periods last varied */
	char why_empty[1280];
	struct utsname host;
	uint64_t open_ns, start_ns, end_ns; /* CLOCK_MONOTONIC */
	struct baseline closed;
	uint64_t close_ns; /* likewise: when the interval ends; 0: no intervals */
	struct ls_counters counters;
	uint64_t known_definitions; /* counters.definitions at the last wait */
	int signal_fd;
	int hangup_writes; /* SIGHUP requests the profile instead of ending the session */
	int is_to_write;   /* SIGHUP arrived */
	int has_toggled;   /* SIGUSR1 arrived an odd number of times */
	int has_commands;  /* to be read from the FIFO */
	uint64_t limit_ns; /* length of the present phase from start_ns; 0: no limit */
	int is_waiting;    /* for start_after_ns: not sampling yet */
	int is_up;         /* the time is up, or there are enough samples */
	int is_over;       /* a signal arrived or the targets have ended */
	int was_stopped;   /* by a command */
};

/* Takes in all that BPF has sent; `context` is the session. 0, or -errno after logging why. */
int session__drain(void *context);

/*
 * Limits all reading of targets, from now until the session waits again, to `ns` in total.
 * READING_NS is for reading while a profile is due.
 */
void session__limit_reading(struct session *session, uint64_t ns);
#define READING_NS UINT64_C(50000000)

/* Reads a signal if one is pending, and notes what it requests. */
void session__take_signal(struct session *session);

/* Carries out what signals and the FIFO have requested. 0 or -errno. */
int session__obey(struct session *session);

/* If the interval is over, writes its profile and begins the next. 0 or -errno. */
int session__close_interval(struct session *session);

#endif
