/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replaces inherited timers by timers of the threads' own. */
#ifndef LS_TIMER_RENEWAL_H
#define LS_TIMER_RENEWAL_H

struct targets;

/*
 * Replaces inherited timers by new ones with the sampler's present period, which can be changed
 * later. `drain` takes in all that BPF has sent. 0 or -errno.
 */
int targets__renew_timers(struct targets *targets, int (*drain)(void *context), void *context);

#endif
