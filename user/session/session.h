/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One session on one process or more: from its timers' start to the profile. */
#ifndef LS_SESSION_H
#define LS_SESSION_H

#include <stdint.h>
#include <sys/types.h>

#include "category.h"
#include "control.h"
#include "grouping.h"
#include "launch.h"
#include "process_filter.h"
#include "profile.h"

struct session;

/* Who looks on while it samples and has a terminal, say: nobody else writes there then. */
struct session_watcher {
	void *context;
	int fd; /* is polled, too */
	/*
	 * Called whenever all was drained, several times a second, and when `fd` is readable.
	 * May call session__look(), session__export() and session__write(); nonzero ends the
	 * session.
	 */
	int (*watch)(void *context, struct session *session);
};

struct session_options {
	const pid_t *pids; /* borrowed; one, or more */
	size_t pid_count;
	int is_system_wide;       /* all that hold Lua instead, and will */
	struct process_wish wish; /* which of those; borrowed */
	int follows_children;     /* those that they have, and those that they get */
	uint64_t period_ns;
	uint32_t max_overhead_ppm; /* of the targets' CPU time: see overhead.h; 0: no matter */
	uint64_t duration_ns;      /* 0: until a signal or the target's end */
	uint64_t start_after_ns;   /* lets it run so long before the first sample */
	uint64_t until_samples;    /* with script, at least; 0: no matter how many */
	/*
	 * So often, and whenever the profile so far is wanted, it is written and one begins that
	 * has nothing of it; where it cannot be written it goes on. 0: there is one profile.
	 */
	uint64_t interval_ns;
	uint32_t max_depth;
	const char *layout; /* forced, a name that layout_puc__find() knows; NULL: none */
	enum category_kind category;
	enum grouping_kind merge_by; /* of several processes: which are one category, or part */
	struct parts *parts;     /* that have profiles of their own; borrowed, NULL: there is one */
	int keeps_timeline;      /* and not only sums */
	int keeps_coroutines;    /* where in a stack they begin */
	int waits;               /* that there is no Lua yet is no error */
	int ends_when_decided;   /* on the layouts of all interpreters */
	int is_paused;           /* at first */
	struct control *control; /* borrowed; NULL: none. A stop is the caller's to be answered */
	/*
	 * The profile so far is wanted, while the session goes on: session__export() has it. 0 or
	 * -errno, of which the session takes no notice; but see `interval_ns`.
	 */
	int (*write)(void *context, struct session *session);
	void *context;
	const struct session_watcher *watcher; /* borrowed; NULL: none */
	struct launch *launch; /* the one process, to be released; NULL: all run already */
};

/*
 * Looks at the process and loads what is needed, but samples nothing yet. Says in one line what it
 * found, or what is wrong. 0; -ENOENT: nothing there to profile; other -errno.
 */
int session__open(const struct session_options *options, struct session **session);
void session__close(struct session *session);

/*
 * Samples until the time is up, there are samples enough, the target has ended or SIGINT, SIGTERM
 * or SIGHUP came; whatever was sampled is there then. 0, or -errno after saying why. A session with
 * intervals, or of the system, that no terminal controls takes a SIGHUP that somebody sent for a
 * wish that it write what it has.
 * SIGUSR1 pauses it, or has it go on. While it is paused, timers are off, and no time of the target
 * is in the profile.
 *
 * A command that luaspy started gets those signals, as many as come, and the session goes on until
 * it has ended; only a second SIGINT from the terminal ends the session before.
 */
int session__run(struct session *session);

/* "lua5.4 (pid 42)", and the name alone. Valid until the session is closed. */
const char *session__target(const struct session *session);
const char *session__name(const struct session *session);

/* The first of those that were asked for and are there. */
pid_t session__pid(const struct session *session);

/*
 * While it goes on: brings up to date what session__export() says of it as a whole. The samples of
 * functions are all there, their charged time is late by some, and so are names that only the
 * targets' tables tell, which take a while to read.
 */
void session__look(struct session *session);

/*
 * Calls `visit` for each process that has not ended, with the category of a profile by process that
 * it is in, and of the CPU time that it was charged by the last session__look() what the profile
 * does not have yet; what it returns other than 0 ends that, and is returned.
 */
typedef int session_visitor(void *context, const char *category, uint64_t late_ns);
int session__visit_living(const struct session *session, session_visitor *visit, void *context);

/* As if the profile so far had been asked for from outside: calls `write`. 0 or -errno. */
int session__write(struct session *session);

/* CPU time of the BPF programs since they were loaded; 0 where the kernel does not measure it. */
uint64_t session__bpf_ns(const struct session *session);

/* What was sampled, since the last interval ended. Valid until the session is closed or goes on. */
void session__export(struct session *session, struct ls_profile *profile);

/* Whether it came to sample, whatever there was to be sampled. */
int session__has_begun(const struct session *session);

/* Whether a command through the FIFO ended it. */
int session__was_stopped(const struct session *session);

/* Why there is no script in any profile of it, in one sentence; NULL: there is. */
const char *session__why_empty(struct session *session);

#endif
