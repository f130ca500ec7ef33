/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has been sampled of processes: takes records in, gives a profile out. */
#ifndef LS_RECORDING_H
#define LS_RECORDING_H

#include <stdint.h>
#include <sys/types.h>

#include "category.h"
#include "parts.h"
#include "profile.h"
#include "record.h"
#include "verdict.h"

struct recording;

/*
 * `has_many`: it may be of several processes. NULL when out of memory. Free with
 * recording__free(), which takes NULL.
 */
struct recording *recording__new(enum category_kind kind, int has_many);
void recording__free(struct recording *recording);

/*
 * A process whose records are taken in from here on; those of others are counted as lost. `name` is
 * what a category is called that stands for all of it; copied. 0 or -ENOMEM.
 */
int recording__add_process(struct recording *recording, pid_t pid, const char *name);

/* It runs Lua, and lives: what names need when it does not any more is read now. */
void recording__prepare(struct recording *recording, pid_t pid);

/* To be called now and then: what was opened for names, and is not needed any more, is closed. */
void recording__tidy(struct recording *recording);

/* It has ended, and all that was sent of it has been taken in: what was sampled of it stays. */
void recording__end_process(struct recording *recording, pid_t pid);

/* What was taken in of a process's CPU time so far. */
uint64_t recording__cpu_ns(const struct recording *recording, pid_t pid);

/* The CPU time of all processes that were ended so. */
uint64_t recording__ended_ns(const struct recording *recording);

/*
 * What else to keep, said before the first sample: the samples in order of time; where in a stack a
 * coroutine begins, as PROFILE_COROUTINE above its first function. 0 or -ENOMEM.
 */
int recording__keep_timeline(struct recording *recording);
int recording__keep_coroutines(struct recording *recording);

/*
 * What is taken in is to be told apart by its part, see below; also that of a part of several
 * processes where `are_groups`. Said before the first process; borrowed.
 */
void recording__keep_parts(struct recording *recording, struct parts *parts, int are_groups);

/* What comes in of the process from now on is of that part, which is borrowed; NULL: the rest. */
void recording__assign(struct recording *recording, pid_t pid, struct part *part);

struct recorded_thread {
	pid_t pid;
	uint32_t tid;
	const char *comm;
	uint64_t runtime_ns; /* CPU time so far */
};

/* A thread that exists when sampling begins. 0 or -ENOMEM. */
int recording__begin_thread(struct recording *recording, const struct recorded_thread *thread);

/* Records, in the order in which they were sent. 0 or -ENOMEM. */
int recording__sample(struct recording *recording, const struct ls_sample *sample,
		      const struct ls_frame *frames);
int recording__function(struct recording *recording, const struct ls_function *function);
int recording__thread_exit(struct recording *recording, const struct ls_thread_exit *exit);

/*
 * What BPF has defined fills the cache for it. To be emptied: have BPF define all again, hand over
 * what it had sent before it knew, then recording__age().
 */
int recording__is_full(const struct recording *recording, pid_t pid);
void recording__age(struct recording *recording, pid_t pid);

/* The process runs another program: nothing that was known of its memory holds. 0 or -ENOMEM. */
int recording__exec(struct recording *recording, pid_t pid);

/* Another name for the process. 0 or -ENOMEM. */
int recording__rename_process(struct recording *recording, pid_t pid, const char *name);

/* A thread that lives when sampling has ended. 0 or -ENOMEM. */
int recording__end_thread(struct recording *recording, const struct recorded_thread *thread);

/*
 * Each thread that lives is paused with its CPU time, then everything is, and what still comes in
 * is passed over; or each is resumed, then everything is at `time_ns`, and of what was sent before
 * that only the ends of threads that are known count. Returns as cpu_time__pause() and
 * cpu_time__resume() do.
 */
int recording__pause_thread(struct recording *recording, const struct recorded_thread *thread);
int recording__resume_thread(struct recording *recording, const struct recorded_thread *thread);
void recording__pause(struct recording *recording);
void recording__resume(struct recording *recording, uint64_t time_ns);

/* A thread that lives and goes on: the profile so far is to have all its time. 0 or
 * -ENOMEM. */
int recording__settle_thread(struct recording *recording, const struct recorded_thread *thread);

/*
 * The profile so far is wanted, with the names that can be known by now; all living threads were
 * settled. `comm` and `cpu_ns` as below.
 */
void recording__complete(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns);

/*
 * All threads have ended or been ended. `cpu_ns` is what the kernel charged the process during the
 * session, or 0 if that is not known; what no thread accounts for is unsampled time of `comm`.
 */
void recording__finish(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns);

/*
 * Of no interpreter at first, and again after exec(): the caller says which there are. NULL: no
 * such process.
 */
struct verdicts *recording__verdicts(struct recording *recording, pid_t pid);

/* Samples so far, per class; DROPPED is the caller's to know. */
const uint64_t *recording__classes(const struct recording *recording);

/* Those of them with script on the stack, be it whole or not. */
uint64_t recording__script_samples(const struct recording *recording);

/*
 * Functions, nodes, categories, those of parts being their owners', and the counts of the recorder;
 * its texts and times are the caller's. Valid until the recording is freed.
 */
void recording__export(struct recording *recording, struct ls_profile *profile);

/* The function that stands for those that were evicted: see pruning.h. */
uint32_t recording__other(const struct recording *recording);

/*
 * What was exported is a profile of its own: samples, times and counts begin anew, all else that is
 * known goes on. Samples of the profile whose time is not handed over yet have it in the next one.
 * 0; -ENOMEM: nothing has changed.
 */
int recording__restart(struct recording *recording);

#endif
