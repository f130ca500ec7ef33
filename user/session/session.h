/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One profiling session of one or more processes, from starting the timers to the profile. */
#ifndef LS_SESSION_H
#define LS_SESSION_H

#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "recording/category.h"
#include "session/control.h"
#include "targets/grouping.h"
#include "targets/launch.h"
#include "targets/process_filter.h"

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
	 * session__look(), session__export() and session__write(). A nonzero return value ends the
	 * session.
	 */
	int (*watch)(void *context, struct session *session);
};

struct session_options {
	const pid_t *pids; /* borrowed; at least one */
	size_t pid_count;
	int is_system_wide;       /* instead: all processes that hold Lua, now or later */
	struct process_wish wish; /* which of those; strings borrowed */
	int follows_children;     /* existing and future ones */
	uint64_t period_ns;
	uint32_t max_overhead_ppm; /* of the targets' CPU time: see overhead.h; 0: no limit */
	uint64_t duration_ns;      /* 0: until a signal or the targets' end */
	uint64_t start_after_ns;   /* how long the target runs before the first sample */
	uint64_t until_samples;    /* ends after this many samples with script; 0: no limit */
	/*
	 * At this interval, and whenever the profile so far is requested, it is written and an
	 * empty one begins. If it cannot be written, it goes on. 0: the session has one profile.
	 */
	uint64_t interval_ns;
	uint32_t max_depth;
	const char *layout; /* forced, a name that layout__find() knows; NULL: none */
	enum category_kind category;
	enum grouping_kind merge_by; /* which processes share a category, or a part */
	struct parts *parts;         /* with profiles of their own; borrowed; NULL: one profile */
	int keeps_timeline;          /* keeps each sample's time, not only sums */
	int keeps_coroutines;        /* marks where in a stack they begin */
	int leaves_source;           /* does not read source text to name functions */
	int waits;                   /* a process without Lua yet is not an error */
	int ends_when_decided;       /* once the layouts of all interpreters are decided */
	int is_paused;               /* initially */
	struct control *control;     /* borrowed; NULL: none. The caller answers a stop */
	/*
	 * Called when the profile so far is requested while the session goes on; session__export()
	 * returns it. 0 or -errno, which the session ignores; but see `interval_ns`.
	 */
	int (*write)(void *context, struct session *session);
	void *context;
	const struct session_watcher *watcher; /* borrowed; NULL: none */
	struct launch *launch; /* the only process, to be released; NULL: all run already */
};

/*
 * Inspects the processes and loads the BPF programs, but does not sample yet. Logs in one line what
 * it found or what is wrong. 0; -ENOENT: nothing there to profile; other -errno.
 */
int session__open(const struct session_options *options, struct session **session);
void session__close(struct session *session);

/*
 * Samples until the time is up, there are enough samples, the targets have ended, or SIGINT,
 * SIGTERM or SIGHUP arrives; what was sampled is then available. 0, or -errno after logging why.
 * Without a controlling terminal, a SIGHUP sent by a process makes a session with intervals, or of
 * the whole system, write its profile and go on. SIGUSR1 pauses or resumes the session. While it is
 * paused, timers are off, and the targets' CPU time is not in the profile.
 *
 * A command that luaspy started gets every such signal except SIGUSR1, and the session goes on
 * until the command ends; only a second SIGINT from the terminal ends the session earlier. One that
 * is apart (launch__is_apart()) gets none: the session ends.
 */
int session__run(struct session *session);

/* "lua5.4 (pid 42)", and the name alone. Valid until the session is closed. */
const char *session__target(const struct session *session);
const char *session__name(const struct session *session);

/* The first process that was asked for and exists. */
pid_t session__pid(const struct session *session);

/*
 * While the session runs: updates the totals that session__export() returns. The samples of
 * functions are complete, but their charged time lags, and so do names that only the targets'
 * tables contain, which take a while to read.
 */
void session__look(struct session *session);

/*
 * Calls `visit` for each process that has not ended, with its category in a profile by process, and
 * the CPU time that it was charged by the last session__look() but that the profile does not
 * contain yet. Skips a process without Lua if that time is 0. A nonzero return value of `visit`
 * ends the loop and is returned.
 */
typedef int session_visitor(void *context, const char *category, uint64_t late_ns);
int session__visit_living(const struct session *session, session_visitor *visit, void *context);

/* Calls `write`, as if the profile so far had been requested from outside. 0 or -errno. */
int session__write(struct session *session);

/* CPU time of the BPF programs since they were loaded; 0 if the kernel does not measure it. */
uint64_t session__bpf_ns(const struct session *session);

/* The profile since the last interval ended. Valid until the session is closed or goes on. */
void session__export(struct session *session, struct ls_profile *profile);

/* Whether sampling began, even if there was nothing to sample. */
int session__has_begun(const struct session *session);

/* Whether a command through the FIFO ended it. */
int session__was_stopped(const struct session *session);

/* Whether there was no Lua at all, but an interpreter that is not supported. */
int session__is_unsupported(const struct session *session);

/* Why no profile of the session has any script, in one sentence; NULL: one has. */
const char *session__why_empty(struct session *session);

#endif
