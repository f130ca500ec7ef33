/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The priority of a thread that drains a ring buffer: it needs little CPU time, but promptly. */
#ifndef LS_PRIORITY_H
#define LS_PRIORITY_H

/*
 * Raises the calling thread above all threads of default priority. Processes and threads that it
 * starts have the default priority. Without the right to do so (CAP_SYS_NICE), or if the user chose
 * another priority, nothing changes.
 */
void priority__raise(void);

#endif
