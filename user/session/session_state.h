/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a session; for session*.c alone. */
#ifndef LS_SESSION_STATE_H
#define LS_SESSION_STATE_H

#include <stdbool.h>
#include <sys/utsname.h>

#include "interpreter/inspection.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "session/baseline.h"
#include "session/overhead.h"
#include "session/pauses.h"
#include "session/session_options.h"
#include "targets/targets.h"

enum session_state {
	SESSION_WAITING,   /* for start_after_ns: the targets run, but are not sampled */
	SESSION_WAITED,    /* sampling is to begin */
	SESSION_CANCELLED, /* it never begins: a signal arrived or the targets have ended */
	SESSION_SAMPLING,
	SESSION_UP,      /* the time is up, or there are enough samples */
	SESSION_OVER,    /* a signal arrived or the targets have ended */
	SESSION_STOPPED, /* a command ended it */
};

/* What signals and the FIFO have requested. */
struct session_requests {
	bool write;    /* SIGHUP arrived */
	bool toggle;   /* SIGUSR1 arrived an odd number of times */
	bool commands; /* in the FIFO */
};

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
	bool delegates_loading; /* another process loads walkers from now on */
	bool hangup_writes;     /* SIGHUP requests the profile instead of ending the session */
	struct session_requests requests;
	enum session_state state;
	uint64_t limit_ns; /* of waiting, then of sampling, from start_ns; 0: no limit */
};

static inline bool session_state__goes_on(const struct session *session)
{
	return session->state == SESSION_WAITING || session->state == SESSION_SAMPLING;
}

static inline bool session_state__has_begun(const struct session *session)
{
	return session->state >= SESSION_SAMPLING;
}

/* The time is up, or there are enough samples. */
static inline void session_state__set_up(struct session *session)
{
	if (session->state == SESSION_WAITING)
		session->state = SESSION_WAITED;
	else if (session->state == SESSION_SAMPLING)
		session->state = SESSION_UP;
}

/* A signal arrived, or the targets have ended. */
static inline void session_state__set_over(struct session *session)
{
	if (!session_state__has_begun(session))
		session->state = SESSION_CANCELLED;
	else if (session->state != SESSION_STOPPED)
		session->state = SESSION_OVER;
}

#endif
