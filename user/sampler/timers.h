/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timers of all attached threads. Threads that these create inherit theirs; the kernel does not
 * change the period of an inherited timer later.
 */
#ifndef LS_TIMERS_H
#define LS_TIMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sampler/timer_set.h"

struct timer;

struct timers {
	struct timer *items;
	struct timer *due;   /* list of those due for a new period */
	struct timer *aside; /* list of those being replaced */
	struct timer *spent; /* list of those kept only for the timers inherited from them */
	struct timer_options options;
	struct bpf_program *program; /* borrowed */
	bool is_off;
};

/* The timers will run `program`, which is borrowed. */
void timers__start(struct timers *timers, const struct timer_options *options,
		   struct bpf_program *program);

/* Ends all. */
void timers__close(struct timers *timers);

/* Starts timers on one more thread. 0 or -errno; -ESRCH: the thread is gone. */
int timers__attach(struct timers *timers, pid_t pid, pid_t tid);

/* Ends the timers of a process, or of all with 0. */
void timers__end(struct timers *timers, pid_t pid);

/*
 * Starts timers again on the only thread of a process, after the kernel has removed them; timers
 * that others inherited from it stay. 0, also if none have been started yet; or -errno; -ESRCH: the
 * thread is gone.
 */
int timers__restart(struct timers *timers, pid_t pid);

/* When that thread was attached (CLOCK_MONOTONIC); 0: it was not. */
uint64_t timers__attached_ns(const struct timers *timers, pid_t tid);

/* See sampler__switch(). */
void timers__switch(struct timers *timers, int on);

/* Counts a sample of that thread. */
void timers__tick(struct timers *timers, pid_t tid);

/* Threads attached later have it immediately, others after one of the next timers__vary() calls. */
void timers__set_period(struct timers *timers, uint64_t period_ns);

/* See sampler__vary_periods(). */
void timers__vary(struct timers *timers);

/*
 * Replaces the timers of a process, or of all with 0, including inherited ones. After
 * timers__set_aside() they keep ticking while others are attached. timers__drop_aside() then ends
 * the old timers; timers__take_back() ends the new ones instead, if attaching failed. The latter
 * returns 0 or -ENOMEM.
 */
void timers__set_aside(struct timers *timers, pid_t pid);
void timers__drop_aside(struct timers *timers);
int timers__take_back(struct timers *timers, pid_t pid);

#endif
