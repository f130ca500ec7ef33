/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session is asked to do. */
#ifndef LS_SESSION_OPTIONS_H
#define LS_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/control.h"
#include "recording/category.h"
#include "sampler/sampling.h"
#include "targets/launch.h"
#include "targets/targets_options.h"

struct session;

/*
 * An observer of the running session (luaspy top), which owns the terminal: nobody else writes
 * there then.
 */
struct session_watcher {
	void *context;
	int fd; /* polled by the session, too */
	/*
	 * Called after each drain, several times a second, and when `fd` is readable. May call
	 * session__refresh(), session__export() and session__write(). A nonzero return value ends
	 * the session.
	 */
	int (*watch)(void *context, struct session *session);
};

struct session_options {
	const struct target_choice *targets; /* borrowed, as is all that it borrows */
	struct sampling sampling;
	uint64_t duration_ns;    /* 0: until a signal or the targets' end */
	uint64_t start_after_ns; /* how long the target runs before the first sample */
	uint64_t until_samples;  /* ends after this many samples with script; 0: no limit */
	/*
	 * At this interval, and whenever the profile so far is requested, it is written and an
	 * empty one begins. If it cannot be written, it goes on. 0: the session has one profile.
	 */
	uint64_t interval_ns;
	enum category_kind category;
	struct subprofiles
		*subprofiles;    /* with profiles of their own; borrowed; NULL: one profile */
	bool keeps_timeline;     /* keeps each sample's time, not only sums */
	bool keeps_coroutines;   /* marks where in a stack they begin */
	bool ends_when_decided;  /* once the layouts of all interpreters are decided */
	bool is_paused;          /* initially */
	struct control *control; /* borrowed; NULL: none. The caller answers a stop */
	/*
	 * Called when the profile so far is requested while the session goes on; session__export()
	 * returns it. 0 or -errno, which the session ignores; but see `interval_ns`.
	 */
	int (*write)(void *context, struct session *session);
	void *context;
	const struct session_watcher *watcher; /* borrowed; NULL: none */
	struct launch *launch; /* the only process, to be released; NULL: all run already */
};

#endif
