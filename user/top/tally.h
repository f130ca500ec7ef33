/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What functions took lately and in all, of a profile that is looked at again and again while it
 * grows. How much a process took is what the kernel charged it. Which functions of it did is told
 * by samples, which are there at once where time that was charged to them comes in windows of many:
 * each weighs as much as the period of the timer that took it, and all of a process, those that
 * were lost included, share its CPU time.
 */
#ifndef LS_TALLY_H
#define LS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/* In ns; with what a function calls, recursion counts once. */
struct tally_times {
	uint64_t self, total;
};

struct tally_row {
	uint32_t process;          /* its index in tally__processes() */
	uint32_t function;         /* of the profile: with the process, what tells rows apart */
	const char *source, *name; /* as in struct ls_profile_function */
	uint32_t line;
	struct tally_times recent; /* CPU time since the look before */
	struct tally_times all;    /* since the start, or tally__reset() */
};

/* A process, or those that are shown as one. */
struct tally_process {
	uint32_t id;                /* the same at every look */
	const char *name;           /* its category's */
	uint32_t living;            /* how many of them are alive */
	bool has_ended;             /* none is, and they were sampled */
	uint64_t recent_ns, all_ns; /* CPU time in the same spans as that of a row */
	uint64_t samples;           /* since the start, or tally__reset(); as are those below */
	uint64_t weight_ns;         /* what they stand for */
	uint64_t script_ns;         /* of that, with script on the stack */
};

/* The same two spans of time, of all processes together. */
struct tally_sums {
	uint64_t elapsed_ns; /* wall clock */
	uint64_t cpu_ns;     /* what the kernel charged */
	uint64_t samples;    /* those that were lost included */
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t weight_ns;    /* what samples stand for, those that were lost included */
	uint64_t script_ns;    /* of that, with script on the stack */
	uint64_t collector_ns; /* of that, in the garbage collector */
	uint64_t not_kept;     /* records that found no room, samples that went into "(other)" */
	uint64_t missed;       /* processes that could not be sampled */
};

struct tally;

/*
 * `is_of_many`: each category of the profile is a process, or several that are shown as one; else
 * all of it is one process. NULL when out of memory. Free with tally__free(), which takes NULL.
 */
struct tally *tally__new(bool is_of_many);
void tally__free(struct tally *tally);

/*
 * A look, at CLOCK_MONOTONIC: the profile as recorded (no view, not merged), which has the
 * categories of the look before and perhaps more; of many, the category of each process that lives
 * with the CPU time of it that the profile does not have yet, that of PROFILE_WITHOUT_LUA for all
 * that have no Lua; the end. Ids of functions may be given to others between looks
 * (functions__evict()), and names may change. 0; -ENOMEM: what was counted is as it was at the look
 * before, and is not to be looked at again.
 *
 * Of those that have ended the last TALLY_ENDED_KEPT are kept apart. Earlier ones are one process,
 * TALLY_ENDED_EARLIER, and so is who comes to be of their category again.
 */
#define TALLY_ENDED_KEPT    256
#define TALLY_ENDED_EARLIER "(ended earlier)"
int tally__begin(struct tally *tally, uint64_t time_ns, const struct ls_profile *profile);
int tally__see_living(struct tally *tally, const char *category, uint64_t late_ns);
int tally__end(struct tally *tally);

/* All counts begin anew with what comes after the last look. 0 or -ENOMEM. */
int tally__reset(struct tally *tally);

/*
 * Functions that were sampled since the reset, and processes that were or are alive, in no order.
 * Valid until the next look.
 */
const struct tally_row *tally__rows(const struct tally *tally, size_t *count);
const struct tally_process *tally__processes(const struct tally *tally, size_t *count);

bool tally__is_of_many(const struct tally *tally);

/* How many processes are alive, and how many categories have none any more. */
size_t tally__living(const struct tally *tally);
size_t tally__ended(const struct tally *tally);

const struct tally_sums *tally__recent(const struct tally *tally);
const struct tally_sums *tally__all(const struct tally *tally);

#endif
