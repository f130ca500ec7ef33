/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF side: loads it, puts timers on threads, hands out what it sends. */
#ifndef LS_SAMPLER_H
#define LS_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

#include "layout.h"
#include "record.h"
#include "target.h"
#include "timers.h"

struct sampler;

struct sampler_options {
	uint64_t period_ns;
	uint32_t max_depth;   /* frames, at most LS_DEPTH_MAX */
	int follows_children; /* processes that targets create are targets, with their timers */
	int is_system_wide;   /* they are targets, too, but have no timers yet */
	int measures_cost;    /* ls_counters.bpf_ns */
};

/* Called while sampler__drain() runs, in the order in which BPF sent. Negative ends the drain. */
struct sampler_receiver {
	void *context;
	int (*sample)(void *context, const struct ls_sample *sample, const struct ls_frame *frames);
	int (*function)(void *context, const struct ls_function *function);
	int (*thread_exit)(void *context, const struct ls_thread_exit *exit);
	int (*exec)(void *context, const struct ls_exec *exec);
	int (*fork)(void *context, const struct ls_fork *fork); /* where children are followed */
};

/* Says in one line what the kernel lacks or forbids. 0 or -errno. */
int sampler__open(const struct sampler_options *options, const struct sampler_receiver *receiver,
		  struct sampler **sampler);

/* Stops everything. Takes NULL. */
void sampler__close(struct sampler *sampler);

/* Layout number `index`, at most LS_LAYOUT_MAX. 0 or -errno. */
int sampler__set_layout(struct sampler *sampler, uint32_t index,
			const struct ls_puc_layout *layout);

/* What BPF knows of a process; without it, its samples are passed over. 0 or -errno. */
int sampler__set_target(struct sampler *sampler, pid_t pid, const struct ls_target *target);

/*
 * Forgets a process that has ended, or is no target any more; system-wide, stops its timers, which
 * only it has.
 */
void sampler__forget_target(struct sampler *sampler, pid_t pid);

/*
 * Starts timers on one thread of process `pid` and on those that it will create. 0 or -errno;
 * -ESRCH: it is gone.
 */
int sampler__attach_thread(struct sampler *sampler, pid_t pid, pid_t tid);

/* System-wide: how the process came to its program, since the sampler was opened. 0 or -ENOENT. */
int sampler__execution(const struct sampler *sampler, pid_t pid, struct ls_execution *execution);
void sampler__forget_execution(struct sampler *sampler, pid_t pid);

/* System-wide: it is no target any more, but lives; of its CPU time, so much is recorded. */
void sampler__note_counted(struct sampler *sampler, pid_t pid, uint64_t runtime_ns);

/*
 * Switches all timers off or on, those of threads still to be attached or born included; on is what
 * they are at first. A thread that is just being born may take after what its creator's timer was
 * before: call it once more, soon after.
 */
void sampler__switch(struct sampler *sampler, int on);

/* Whether that thread has been given a timer by the one that created it, or by attach_thread(). */
int sampler__has_thread(struct sampler *sampler, pid_t tid);

/*
 * Gives timers new periods, at random around the one asked for, which stays their mean. A period
 * that never changed could keep step with what the target does, and see only some of it. To be
 * called every few dozen milliseconds; those are passed over that ticked too seldom since.
 */
void sampler__vary_periods(struct sampler *sampler);

/* For other periods, and other timers for threads that inherited theirs. */
struct timers *sampler__timers(struct sampler *sampler);

/* What a tick of the timer costs a thread, without its sample: see tick_cost.h. */
uint64_t sampler__measure_tick(const struct sampler *sampler);

/* Stops all timers; what was sent before can still be drained. */
void sampler__stop(struct sampler *sampler);

/* A file descriptor that polls readable when the buffer fills up faster than it is drained. */
int sampler__poll_fd(const struct sampler *sampler);

/*
 * Hands out what is there, and no more than the buffer holds: it ends even where BPF sends faster
 * than the receiver takes. 0, or what a receiver returned.
 */
int sampler__drain(struct sampler *sampler);

/*
 * From here on a thread of its own empties the buffer, as far as there is memory for that
 * (backlog.h), because the caller is busy otherwise; until sampler__take_over(), and the next drain
 * has it all. What is called in between must not drain.
 */
void sampler__relieve(struct sampler *sampler);
void sampler__take_over(struct sampler *sampler);

/* What the BPF programs took so far; 0 where kernel.bpf_stats_enabled is off. */
uint64_t sampler__runtime_ns(const struct sampler *sampler);

/* Own time that samples took to be handed out, if all were like most. */
uint64_t sampler__handing_ns(const struct sampler *sampler);

/* Sums over all CPUs. 0 or -errno. */
int sampler__counters(const struct sampler *sampler, struct ls_counters *sum);

#endif
