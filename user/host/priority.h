/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whoever empties the ring buffer needs little of a processor, but in time. */
#ifndef LS_PRIORITY_H
#define LS_PRIORITY_H

/*
 * Puts the calling thread before all of ordinary priority. Not what it starts, be it a process or
 * a thread, which has the ordinary one. Without the right to do so (CAP_SYS_NICE), or where the
 * user chose another priority, nothing changes.
 */
void priority__raise(void);

#endif
