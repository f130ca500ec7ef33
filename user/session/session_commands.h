/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What signals, the FIFO and the clock make a running session do. */
#ifndef LS_SESSION_COMMANDS_H
#define LS_SESSION_COMMANDS_H

struct session;

/* Calls `write`, as if the profile so far had been requested from outside. 0 or -errno. */
int session__write(struct session *session);

/* ---- for session.c alone */

/* Reads a signal if one is pending, and notes what it requests. */
void session__take_signal(struct session *session);

/* Carries out what signals and the FIFO have requested. 0 or -errno. */
int session__obey(struct session *session);

/* If the interval is over, writes its profile and begins the next. 0 or -errno. */
int session__close_interval(struct session *session);

#endif
