/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timers of one thread, each of which runs only while the thread does.
 *
 * At a high frequency one timer is not enough. A tick takes CPU time from the thread, more where
 * the stack takes longer to walk. If a program repeats itself about as often as the timer ticks,
 * this pulls the ticks, cycle by cycle, to where their cost increases, and they stay there: with a
 * cycle of 70 us at 10 kHz, one of two functions got 31% of their samples instead of the true 25%.
 * A random period does not help, because a few cycles suffice. Several timers, each slower and with
 * a period of its own, push each other out of this lockstep: 25% again.
 */
#ifndef LS_TIMER_SET_H
#define LS_TIMER_SET_H

#include <stdbool.h>
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
	uint64_t period_ns;    /* of all timers together */
	uint32_t timers;       /* at most TIMERS_MAX; 0: timer_set__count() of the period */
	bool follows_children; /* processes that the thread creates inherit them too */
};

/*
 * How many timers share the ticks of `period_ns`: at 10 kHz all TIMERS_MAX, at 2.5 kHz each; fewer
 * for longer periods, and only one above 200 us.
 */
uint32_t timer_set__count(uint64_t period_ns);

/*
 * Runs `program` on thread `tid`, and on those that it creates, every period_ns of their CPU time
 * on average. 0 or -errno; -ESRCH: the thread is gone. Close it if it was opened.
 */
int timer_set__open(struct timer_set *set, pid_t tid, const struct timer_options *options,
		    struct bpf_program *program);

/*
 * Opens one timer that runs `program` every period_ns on processor `cpu`, whatever it executes,
 * unless it is idle. The timer is off. 0 or -errno; -ENODEV: the processor is offline; -EMFILE:
 * half of the files that the limit allows are open. Close it if it was opened.
 */
int timer_set__open_on(struct timer_set *set, int cpu, uint64_t period_ns,
		       struct bpf_program *program);

void timer_set__close(struct timer_set *set);

/*
 * Sets new random periods; together the timers keep `period_ns` as the mean. Each change interrupts
 * the thread's processor.
 */
void timer_set__vary(const struct timer_set *set, uint64_t period_ns);

/*
 * Switches the timers off or on; initially they are on. The kernel does the same to inherited
 * timers, even if the thread itself has ended (perf_event_for_each_child()), and timers inherited
 * later get the state of their parent's.
 */
void timer_set__switch(const struct timer_set *set, int on);

#endif
