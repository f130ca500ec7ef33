/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Empties the ring buffer while the session is busy: a disk that takes its time to have a profile
 * written would have BPF drop samples otherwise.
 */
#ifndef LS_RELIEF_H
#define LS_RELIEF_H

struct relief;

/*
 * Has `empty` called by a thread of its own every few milliseconds, until it returns nonzero or
 * relief__end(). NULL where that cannot be.
 */
struct relief *relief__begin(int (*empty)(void *context), void *context);

/* `empty` is not called any more when this returns. Takes NULL. */
void relief__end(struct relief *relief);

#endif
