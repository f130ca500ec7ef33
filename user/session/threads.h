/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process's threads: their timers, and what the kernel charged them while they were sampled. */
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
	int is_paused;               /* nothing is recorded; may be so from the start */
	int is_newborn;              /* all that it was ever charged is recorded */
	uint64_t begin_ns;           /* or from that CPU time on; 0: from when timers start */
	uint64_t cpu_start_ns;       /* CPU time of the process where it began, or was resumed */
	uint64_t cpu_ns;        /* what it was charged before that; in the end all: 0: not known */
	uint64_t cpu_so_far_ns; /* when it was settled or ended */
};

/* As many files as this process may open at all: each thread takes some. */
void threads__raise_file_limit(void);

/*
 * Starts timers on all threads, which those that they create inherit. 0, also where the process has
 * ended meanwhile; or -errno after saying what is wrong with `target`.
 */
int threads__attach(struct threads *threads, const char *target);

/* Whether one has timers that it inherited. */
int threads__have_inherited(const struct threads *threads);

/* Starts timers of their own on all, where theirs were set aside. 0 or -errno. */
int threads__attach_again(const struct threads *threads);

/*
 * Nothing is to be recorded of it from here on. Timers have been switched off before, and
 * everything drained; drain again afterwards, for the ends of threads that it missed. 0 or -errno.
 */
int threads__pause(struct threads *threads);

/* It is again, before the timers are switched on. 0 or -errno. */
int threads__resume(struct threads *threads);

/* What they were charged so far is known then, and nothing handed over. */
void threads__look(struct threads *threads);

/*
 * For a profile while the session goes on: all that the threads were charged is handed over; then,
 * with everything drained, threads__complete(), whose `name` is as below.
 */
void threads__settle(struct threads *threads);
void threads__complete(struct threads *threads, const char *name);

/*
 * All timers have been stopped and everything is drained: tells what the living threads were
 * charged. `name` is whose the time is that no thread accounts for.
 */
void threads__end(struct threads *threads, const char *name);

#endif
