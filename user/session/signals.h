/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signals that end a session, SIGINT, SIGTERM and SIGHUP; SIGUSR1 pauses and resumes it. Of
 * what runs as a service SIGHUP may mean something else.
 */
#ifndef LS_SIGNALS_H
#define LS_SIGNALS_H

#include "launch.h"

/*
 * From here on they are read from the descriptor that this returns, which is the caller's to close;
 * -1: they are not caught. A closed pipe is then a failed write, and no signal.
 */
int signals__catch(void);

/* Whether a terminal controls this process, whose end is told by SIGHUP. */
int signals__have_terminal(void);

/*
 * The session is over: a SIGTERM ends the process from here on, whatever it waits for, but for one
 * that comes with those that ended the session.
 */
void signals__let_end(void);

enum signals_demand { SIGNALS_NOTHING, SIGNALS_END, SIGNALS_SWITCH, SIGNALS_HANGUP };

/*
 * One has come: what it demands. A command that luaspy started, `launch`, gets it instead
 * and the session ends with the command: but a terminal has sent its SIGINT to the command itself,
 * and who presses Ctrl-C twice does not want to wait. `launch` may be NULL. SIGHUP is
 * SIGNALS_HANGUP where it was sent by a process, and ends nothing by itself.
 */
enum signals_demand signals__take(int fd, const struct launch *launch);

#endif
