/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The target's threads: their timers, and what the kernel charged them while they were sampled. */
#ifndef LS_THREADS_H
#define LS_THREADS_H

#include <stdint.h>
#include <sys/types.h>

#include "recording.h"
#include "sampler.h"

struct threads {
	pid_t pid;
	struct sampler *sampler;     /* borrowed, and so is the recording */
	struct recording *recording; /* is told when threads begin and end */
	uint64_t cpu_start_ns;       /* CPU time of the process where it began */
	uint64_t cpu_ns; /* what the process was charged since; 0: not known, or not over */
};

/*
 * Starts timers on all threads, which those that they create inherit. 0, also where the process has
 * ended meanwhile; or -errno after saying what is wrong with `target`.
 */
int threads__attach(struct threads *threads, const char *target);

/*
 * All timers have been stopped and everything is drained: tells what the living threads were
 * charged. `name` is whose the time is that no thread accounts for.
 */
void threads__end(struct threads *threads, const char *name);

#endif
