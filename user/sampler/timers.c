/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/timers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <utlist.h>

#include "base/clock.h"
#include "base/hash_table.h"

/* A thread with timers of its own. */
struct timer {
	pid_t tid;
	pid_t pid;
	struct timer_set set;
	uint64_t attached_ns; /* threads that it created since inherit the timers */
	uint64_t period_ns;   /* mean of their present periods */
	uint32_t ticks;       /* with these periods */
	bool is_due;
	struct timer *prev, *next; /* in the list of those due */
	struct timer *next_aside;
	UT_hash_handle hh;
};

void timers__start(struct timers *timers, const struct timer_options *options,
		   struct bpf_program *program)
{
	*timers = (struct timers){.options = *options, .program = program};
}

static struct timer *find(const struct timers *timers, pid_t tid)
{
	struct timer *timer;

	HASH_FIND(hh, timers->items, &tid, sizeof(tid), timer);
	return timer;
}

static void free_timer(struct timer *timer)
{
	timer_set__close(&timer->set);
	free(timer);
}

static void make_due(struct timers *timers, struct timer *timer)
{
	if (timer->is_due)
		return;
	timer->is_due = true;
	DL_APPEND(timers->due, timer);
}

static void be_done(struct timers *timers, struct timer *timer)
{
	if (!timer->is_due)
		return;
	timer->is_due = false;
	DL_DELETE(timers->due, timer);
}

/* 0 or -ENOMEM. */
static int put_in(struct timers *timers, struct timer *timer)
{
	HASH_ADD(hh, timers->items, tid, sizeof(timer->tid), timer);
	if (!HASH_HAS_ADDED(timer))
		return -ENOMEM;
	if (timer->period_ns != timers->options.period_ns)
		make_due(timers, timer);
	return 0;
}

static void take_out(struct timers *timers, struct timer *timer)
{
	be_done(timers, timer);
	HASH_DEL(timers->items, timer);
}

void timers__end(struct timers *timers, pid_t pid)
{
	struct timer *timer, *next;

	HASH_ITER (hh, timers->items, timer, next) {
		if (pid && timer->pid != pid)
			continue;
		take_out(timers, timer);
		free_timer(timer);
	}
}

static void free_list(struct timer **list)
{
	while (*list) {
		struct timer *timer = *list;

		*list = timer->next_aside;
		free_timer(timer);
	}
}

void timers__close(struct timers *timers)
{
	timers__end(timers, 0);
	timers__drop_aside(timers);
	free_list(&timers->spent);
}

int timers__attach(struct timers *timers, pid_t pid, pid_t tid)
{
	struct timer *timer = calloc(1, sizeof(*timer));
	int error;

	if (!timer)
		return -ENOMEM;
	timer->tid = tid;
	timer->pid = pid;
	error = timer_set__open(&timer->set, tid, &timers->options, timers->program);
	if (error)
		goto cleanup;
	/* Attaching switches them on. */
	if (timers->is_off)
		timer_set__switch(&timer->set, 0);
	timer->attached_ns = clock_ns(CLOCK_MONOTONIC);
	timer->period_ns = timers->options.period_ns;
	error = put_in(timers, timer);
	if (!error)
		return 0;
	timer_set__close(&timer->set);
cleanup:
	free(timer);
	return error;
}

int timers__restart(struct timers *timers, pid_t pid)
{
	struct timer *timer, *next;

	if (!timers->items)
		return 0;
	HASH_ITER (hh, timers->items, timer, next) {
		if (timer->pid != pid)
			continue;
		take_out(timers, timer);
		timer->next_aside = timers->spent;
		timers->spent = timer;
	}
	/* Only followed processes can still have inherited them: the other threads have ended. */
	if (!timers->options.follows_children)
		free_list(&timers->spent);
	return timers__attach(timers, pid, pid);
}

uint64_t timers__attached_ns(const struct timers *timers, pid_t tid)
{
	const struct timer *timer = find(timers, tid);

	return timer ? timer->attached_ns : 0;
}

void timers__switch(struct timers *timers, int on)
{
	struct timer *timer;

	timers->is_off = !on;
	for (timer = timers->items; timer; timer = timer->hh.next)
		timer_set__switch(&timer->set, on);
}

/*
 * A new period restarts the timer (__perf_event_period() in kernel/events/core.c, all releases): if
 * changed again before each tick, it would never tick.
 */
#define TICKS_LEAST 16

/* In the thread's own CPU time, so that each sample bears the same share of the cost. */
#define VARIED_NS 50000000U

void timers__tick(struct timers *timers, pid_t tid)
{
	struct timer *timer = find(timers, tid);

	if (timer && ++timer->ticks >= TICKS_LEAST * timer->set.count &&
	    timer->ticks * timer->period_ns >= VARIED_NS)
		make_due(timers, timer);
}

void timers__set_period(struct timers *timers, uint64_t period_ns)
{
	struct timer *timer;

	timers->options.period_ns = period_ns;
	for (timer = timers->items; timer; timer = timer->hh.next)
		if (timer->period_ns != period_ns)
			make_due(timers, timer);
}

/* A change interrupts the thread's processor: with many threads, some wait for the next call. */
#define CHANGES_MAX 64

void timers__vary(struct timers *timers)
{
	for (int changes = 0; timers->due && changes < CHANGES_MAX; changes++) {
		struct timer *timer = timers->due;

		be_done(timers, timer);
		timer->period_ns = timers->options.period_ns;
		timer->ticks = 0;
		timer_set__vary(&timer->set, timer->period_ns);
	}
}

void timers__set_aside(struct timers *timers, pid_t pid)
{
	struct timer *timer, *next;

	HASH_ITER (hh, timers->items, timer, next) {
		if (pid && timer->pid != pid)
			continue;
		take_out(timers, timer);
		timer->next_aside = timers->aside;
		timers->aside = timer;
	}
}

void timers__drop_aside(struct timers *timers)
{
	free_list(&timers->aside);
}

int timers__take_back(struct timers *timers, pid_t pid)
{
	int error = 0;

	timers__end(timers, pid);
	while (timers->aside) {
		struct timer *timer = timers->aside;

		timers->aside = timer->next_aside;
		if (!put_in(timers, timer))
			continue;
		free_timer(timer);
		error = -ENOMEM;
	}
	return error;
}
