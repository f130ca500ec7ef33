/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What functions took lately and in all, of profiles that are looked at again and again while they
 * grow. Everything is counted in samples, which are there at once where charged time comes in
 * windows of many; what they weigh is the CPU time that the kernel charged, shared among all of
 * them: tally__ns().
 */
#ifndef LS_TALLY_H
#define LS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile.h"

/* Samples; with what a function calls, recursion counts once. */
struct tally_counts {
	uint64_t self, total;
};

struct tally_row {
	pid_t pid;
	uint32_t function;         /* of the process's profile: with `pid`, what tells rows apart */
	const char *source, *name; /* as in struct ls_profile_function */
	uint32_t line;
	struct tally_counts recent; /* since the look before */
	struct tally_counts all;    /* since the start, or tally__reset() */
};

/* The same two spans of time, of all processes together. */
struct tally_sums {
	uint64_t elapsed_ns; /* wall clock */
	uint64_t cpu_ns;     /* what the kernel charged */
	uint64_t samples;    /* those that were lost included */
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t script;    /* with script on the stack */
	uint64_t collector; /* in the garbage collector */
	uint64_t not_kept;  /* records that found no room, samples that went into "(other)" */
};

struct tally;

/* NULL when out of memory. Free with tally__free(), which takes NULL. */
struct tally *tally__new(void);
void tally__free(struct tally *tally);

/*
 * A look at every process: begin with CLOCK_MONOTONIC, add each as recorded (no view, not merged),
 * end. Ids of a process's functions may be given to others between looks (functions__evict()), and
 * names may change. 0; -ENOMEM: what was added is as it was at the look before.
 */
void tally__begin(struct tally *tally, uint64_t time_ns);
int tally__add(struct tally *tally, pid_t pid, const struct ls_profile *profile);
int tally__end(struct tally *tally);

/* All counts begin anew with what comes after the last look. 0 or -ENOMEM. */
int tally__reset(struct tally *tally);

/* Functions that were sampled since the reset, in no order. Valid until the next look. */
const struct tally_row *tally__rows(const struct tally *tally, size_t *count);
size_t tally__processes(const struct tally *tally);

const struct tally_sums *tally__recent(const struct tally *tally);
const struct tally_sums *tally__all(const struct tally *tally);

/* What so many of the samples in `sums` weigh. */
uint64_t tally__ns(const struct tally_sums *sums, uint64_t samples);

#endif
