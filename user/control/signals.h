/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signals that end a session: SIGINT, SIGTERM and SIGHUP. SIGUSR1 pauses and resumes it. For a
 * service, SIGHUP may mean something else.
 */
#ifndef LS_SIGNALS_H
#define LS_SIGNALS_H

#include <stdbool.h>

#include "targets/launch.h"

/*
 * Blocks these signals and returns a descriptor to read them from, which the caller closes; -1:
 * they cannot be read. Also ignores SIGPIPE: writing to a closed pipe then fails instead.
 */
int signals__catch(void);

/* Whether this process has a controlling terminal, whose hangup raises SIGHUP. */
bool signals__have_terminal(void);

/*
 * The session is over: from here on, SIGTERM ends the process whatever it waits for, except one
 * that arrives together with those that ended the session.
 */
void signals__let_end(void);

enum signals_demand { SIGNALS_NOTHING, SIGNALS_END, SIGNALS_SWITCH, SIGNALS_HANGUP };

/*
 * Reads a signal and returns what it demands. `launch`, the command that luaspy started, gets the
 * signal instead (except SIGUSR1), and the session ends with the command. The terminal has sent its
 * signals to the command itself; a second Ctrl-C ends the session without waiting. A command that
 * is apart gets none. `launch` may be NULL: a SIGHUP sent by a process is then SIGNALS_HANGUP,
 * which by itself ends nothing.
 */
enum signals_demand signals__take(int fd, const struct launch *launch);

#endif
