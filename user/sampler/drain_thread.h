/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Empties the ring buffer while the session is busy. Otherwise BPF would drop samples while a
 * profile is written to a slow disk.
 */
#ifndef LS_DRAIN_THREAD_H
#define LS_DRAIN_THREAD_H

struct drain_thread;

/*
 * Starts a thread that calls `empty` every few milliseconds, until that returns nonzero or
 * drain_thread__end() is called. NULL on failure.
 */
struct drain_thread *drain_thread__begin(int (*empty)(void *context), void *context);

/* After this returns, `empty` is not called any more. Takes NULL. */
void drain_thread__end(struct drain_thread *drain_thread);

#endif
