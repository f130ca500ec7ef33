/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timers of all threads that were attached. Threads that these create inherit theirs; of such
 * timers the kernel changes no period later on.
 */
#ifndef LS_TIMERS_H
#define LS_TIMERS_H

#include <stdint.h>
#include <sys/types.h>

#include "timer_set.h"

struct timer;

struct timers {
	struct timer *items;
	struct timer *due;   /* for another period, a list */
	struct timer *aside; /* of threads that get others, a list */
	struct timer_options options;
	struct bpf_program *program; /* borrowed */
	int is_off;
};

/* They run `program`, which is borrowed. */
void timers__start(struct timers *timers, const struct timer_options *options,
		   struct bpf_program *program);

/* Ends all. */
void timers__close(struct timers *timers);

/* On one more thread. 0 or -errno; -ESRCH: it is gone. */
int timers__attach(struct timers *timers, pid_t pid, pid_t tid);

/* Ends those of a process, or of all with 0. */
void timers__end(struct timers *timers, pid_t pid);

/* 0: that thread was not attached. Else CLOCK_MONOTONIC: since then it was. */
uint64_t timers__attached_ns(const struct timers *timers, pid_t tid);

/* See sampler__switch(). */
void timers__switch(struct timers *timers, int on);

/* A sample of that thread came. */
void timers__tick(struct timers *timers, pid_t tid);

/* Of threads still to be attached at once, of others at one of the next calls of the one below. */
void timers__set_period(struct timers *timers, uint64_t period_ns);

/* See sampler__vary_periods(). */
void timers__vary(struct timers *timers);

/*
 * Those of all threads of a process, or of all processes with 0, those that they inherited
 * included, go aside: they tick on, and others can be attached. Then these end; or, if that went
 * wrong, the others do. The latter returns 0 or -ENOMEM.
 */
void timers__set_aside(struct timers *timers, pid_t pid);
void timers__drop_aside(struct timers *timers);
int timers__take_back(struct timers *timers, pid_t pid);

#endif
