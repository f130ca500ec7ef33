/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timers of one thread, of which each runs while the thread does.
 *
 * At a high frequency one timer is not enough. A tick takes CPU time from the thread, more where
 * the stack takes longer to walk. If a program repeats itself about as often as the timer ticks,
 * that pulls the ticks, round by round, to where it becomes dearer, and there they stay: with a
 * cycle of 70 us at 10 kHz one function had 31% of what it shared with another where 25% were true.
 * A random period does not help, for a few rounds are enough. Several timers, each slower and with
 * a period of its own, disturb each other out of it: 25% again.
 */
#ifndef LS_TIMER_SET_H
#define LS_TIMER_SET_H

#include <stdint.h>
#include <sys/types.h>

#include <bpf/libbpf.h>

#define TIMERS_MAX 4

struct timer_set {
	uint32_t count;
	int files[TIMERS_MAX]; /* owned by the links */
	struct bpf_link *links[TIMERS_MAX];
};

struct timer_options {
	uint64_t period_ns;   /* of all together */
	uint32_t timers;      /* at most TIMERS_MAX; 0: timer_set__count() of the period */
	int follows_children; /* processes that the thread will create have them too */
};

/* How many timers take samples every `period_ns` together: of at most 2.5 kHz each, if four do. */
uint32_t timer_set__count(uint64_t period_ns);

/*
 * Has `program` run on thread `tid`, and on those that it will create, period_ns of its CPU
 * time on average. 0 or -errno; -ESRCH: it is gone. To be closed if it was opened.
 */
int timer_set__open(struct timer_set *set, pid_t tid, const struct timer_options *options,
		    struct bpf_program *program);
void timer_set__close(struct timer_set *set);

/*
 * New periods, at random around those that keep `period_ns` together, which stays the mean. Each
 * change interrupts the thread's processor.
 */
void timer_set__vary(const struct timer_set *set, uint64_t period_ns);

/*
 * Off or on; on is what they are at first. The kernel hands it on to the timers that were
 * inherited, also where the thread itself has ended (perf_event_for_each_child()), and those that
 * are inherited later are as their parent's is.
 */
void timer_set__switch(const struct timer_set *set, int on);

#endif
