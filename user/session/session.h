/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One profiling session of one or more processes, from starting the timers to the profile. */
#ifndef LS_SESSION_H
#define LS_SESSION_H

#include "session/session_options.h"

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

#endif
