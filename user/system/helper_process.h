/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the processes that luaspy forks for itself have in common. */
#ifndef LS_HELPER_PROCESS_H
#define LS_HELPER_PROCESS_H

#include <stddef.h>

/*
 * Ignores the signals that a terminal or a service manager sends to all processes of luaspy, which
 * still needs its helpers to finish the profile. A helper ends when luaspy closes its socket.
 */
void helper_process__ignore_signals(void);

/*
 * Closes all files but `kept`, which this sorts, and the standard ones, of which the first
 * `replaced` become /dev/null.
 */
void helper_process__close_files(int *kept, size_t count, int replaced);

#endif
