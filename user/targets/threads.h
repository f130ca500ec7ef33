/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process's threads: their timers, and what the kernel charged them while they were sampled. */
#ifndef LS_THREADS_H
#define LS_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recording/recording.h"
#include "sampler/sampler.h"

struct threads {
	pid_t pid;
	struct sampler *sampler;     /* borrowed, and so is the recording */
	struct recording *recording; /* receives the beginnings and ends of threads */
	bool is_paused;              /* nothing is recorded; may be set from the start */
	bool is_newborn;             /* all CPU time since its creation is recorded */
	bool is_incomplete;          /* some threads have no timers yet */
	bool is_unsettled;           /* not all were settled, for want of time */
	uint64_t begin_ns;           /* else from that CPU time on; 0: from when timers start */
	uint64_t cpu_start_ns;       /* CPU time of the process when recording began or resumed */
	uint64_t cpu_ns;             /* CPU time recorded before that; in the end all; 0: unknown */
	uint64_t cpu_so_far_ns;      /* CPU time when it was last looked at, settled or ended */
};

/*
 * Starts timers on all threads, which threads that they create inherit. There may be thousands: the
 * rest waits for the next call after `until_ns` (CLOCK_MONOTONIC), and is_incomplete is set;
 * their CPU time until then has no thread in the recording. 0, also if the process has ended
 * meanwhile; or -errno after logging what is wrong with `target`.
 */
int threads__attach(struct threads *threads, const char *target, uint64_t until_ns);

/* Whether any thread has inherited its timers. */
bool threads__have_inherited(const struct threads *threads);

/* Starts new timers on all threads whose timers were set aside. 0 or -errno. */
int threads__attach_again(const struct threads *threads);

/*
 * Stops recording the process. The timers must be switched off and everything drained before; drain
 * again afterwards, for the ends of threads that this missed. 0 or -errno.
 */
int threads__pause(struct threads *threads);

/* Resumes recording, before the timers are switched on. 0 or -errno. */
int threads__resume(struct threads *threads);

/* Updates cpu_so_far_ns, but hands over no time. */
void threads__refresh(struct threads *threads);

/*
 * For a profile while the session goes on: hands over all CPU time that the threads were charged.
 * Then drain, and call threads__complete(), with `name` as below. After `until_ns`, the time of the
 * remaining threads is left to the next profile, and is_unsettled is set.
 */
void threads__settle(struct threads *threads, uint64_t until_ns);
void threads__complete(struct threads *threads, const char *name);

/*
 * To be called after all timers were stopped and everything was drained: records what the living
 * threads were charged. CPU time that no thread accounts for, because it has ended or until_ns came
 * first, is recorded under `name`.
 */
void threads__end(struct threads *threads, const char *name, uint64_t until_ns);

#endif
