/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a command that reads one process in a child, so that luaspy still obeys signals when the
 * child blocks in the kernel.
 */
#ifndef LS_SUPERVISED_H
#define LS_SUPERVISED_H

/*
 * A child calls `work`, which writes its own output and returns an exit status. Returns that
 * status; -ETIMEDOUT: the child was blocked for ten seconds and was abandoned; -EINTR:
 * *signal_number, sent to this process or the child, ended it; other -errno.
 */
int supervised__run(int (*work)(void *context), void *context, int *signal_number);

#endif
