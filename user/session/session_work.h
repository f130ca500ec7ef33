/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What session.c and session_commands.c share; nobody else's. */
#ifndef LS_SESSION_WORK_H
#define LS_SESSION_WORK_H

#include <sys/utsname.h>

#include "baseline.h"
#include "overhead.h"
#include "pauses.h"
#include "recording.h"
#include "sampler.h"
#include "session.h"
#include "target.h"
#include "targets.h"

struct session {
	struct session_options options;
	struct sampler *sampler;
	struct recording *recording;
	struct targets *targets;
	struct pauses pauses;
	struct overhead overhead;
	uint64_t varied_ns; /* when the timers' periods were */
	char why_empty[256];
	struct utsname host;
	uint64_t open_ns, start_ns, end_ns; /* CLOCK_MONOTONIC */
	struct baseline closed;
	uint64_t close_ns; /* likewise: when the interval ends; 0: it does not */
	struct ls_counters counters;
	int signal_fd;
	int hangup_writes; /* SIGHUP does not end it */
	int is_to_write;   /* SIGHUP came */
	int has_toggled;   /* by a signal, an odd number of times */
	int has_commands;  /* to be taken from the FIFO */
	uint64_t limit_ns; /* since start_ns, of what it does now; 0: none */
	int is_waiting;    /* before it samples */
	int is_up;         /* the time, or there are samples enough */
	int is_over;       /* a signal came or the targets have ended */
	int was_stopped;   /* by a command */
};

/* Takes in all that BPF has sent; `context` is the session. 0, or -errno after saying why. */
int session__drain(void *context);

/* A signal may have come. */
void session__take_signal(struct session *session);

/* Does what signals and the FIFO have asked for since. 0 or -errno. */
int session__obey(struct session *session);

/* Writes what the interval has, if its time is up, and begins another. 0 or -errno. */
int session__close_interval(struct session *session);

#endif
