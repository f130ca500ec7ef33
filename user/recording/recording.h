/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has been sampled: takes in records of processes, and exports a profile. */
#ifndef LS_RECORDING_H
#define LS_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/inspection.h"
#include "interpreter/layout_vote.h"
#include "profile/profile.h"
#include "record.h"
#include "recording/category.h"
#include "recording/subprofiles.h"

struct recording;

/*
 * `has_many`: there may be several processes. `inspector` is borrowed. NULL when out of memory.
 * Free with recording__free(), which takes NULL.
 */
struct recording *recording__new(enum category_kind kind, bool has_many,
				 struct inspector *inspector);
void recording__free(struct recording *recording);

/*
 * Takes in records of a process from here on; those of others are counted as lost. `name` is the
 * category that stands for the whole process; copied. 0 or -ENOMEM.
 */
int recording__add_process(struct recording *recording, pid_t pid, const char *name);

/* The process runs Lua and lives: reads now what names need once it has ended. */
void recording__prepare(struct recording *recording, pid_t pid);

/* Forgets a process that has ended and whose records have all been taken in; its samples stay. */
void recording__end_process(struct recording *recording, pid_t pid);

/* CPU time of a process recorded so far, in ns. */
uint64_t recording__cpu_ns(const struct recording *recording, pid_t pid);

/* CPU time of all processes that recording__end_process() has forgotten, in ns. */
uint64_t recording__ended_ns(const struct recording *recording);

/*
 * What else to keep, requested before the first sample: the samples in order of time; where in a
 * stack a coroutine begins, as PROFILE_COROUTINE above its first function. 0 or -ENOMEM.
 */
int recording__keep_timeline(struct recording *recording);
int recording__keep_coroutines(struct recording *recording);

/*
 * Keeps records apart by their subprofile, see recording__assign(); if `are_groups`, also the
 * processes of one subprofile. Called before the first process; `subprofiles` is borrowed.
 */
void recording__keep_subprofiles(struct recording *recording, struct subprofiles *subprofiles,
				 bool are_groups);

/* Later records of the process belong to that subprofile, which is borrowed; NULL: to the rest. */
void recording__assign(struct recording *recording, pid_t pid, struct subprofile *subprofile);

struct recorded_thread {
	pid_t pid;
	uint32_t tid;
	const char *comm;
	uint64_t runtime_ns; /* CPU time so far */
};

/* Begins a thread that exists when sampling begins. 0 or -ENOMEM. */
int recording__begin_thread(struct recording *recording, const struct recorded_thread *thread);

/*
 * While `is_partial`, not all threads that existed when sampling began have begun: the CPU time of
 * an unknown one does not count, for it may be from before.
 */
void recording__set_partial(struct recording *recording, pid_t pid, bool is_partial);

/* Take in records, in the order in which they were sent. 0 or -ENOMEM. */
int recording__sample(struct recording *recording, const struct ls_sample *sample,
		      const struct ls_frame *frames);
int recording__function(struct recording *recording, const struct ls_function *function);
int recording__thread_exit(struct recording *recording, const struct ls_thread_exit *exit);
int recording__thread_rest(struct recording *recording, const struct ls_thread_exit *rest);

/*
 * Whether the functions that BPF has defined fill their cache. To empty it: make BPF define all of
 * them again, take in what it sent before that, then call recording__age().
 */
bool recording__is_full(const struct recording *recording, pid_t pid);
void recording__age(struct recording *recording, pid_t pid);

/* The process runs another program: forgets all that was known of its memory. 0 or -ENOMEM. */
int recording__exec(struct recording *recording, pid_t pid);

/* Renames the process. 0 or -ENOMEM. */
int recording__rename_process(struct recording *recording, pid_t pid, const char *name);

/* Records the CPU time of a thread that lives when sampling has ended. 0 or -ENOMEM. */
int recording__end_thread(struct recording *recording, const struct recorded_thread *thread);

/*
 * To pause: recording__pause_thread() for each living thread, then recording__pause(), after which
 * samples are ignored. To resume: recording__resume_thread() for each, then recording__resume(); of
 * thread ends before `time_ns`, only those of known threads count. Return values are those of
 * cpu_time__pause() and cpu_time__resume().
 */
int recording__pause_thread(struct recording *recording, const struct recorded_thread *thread);
int recording__resume_thread(struct recording *recording, const struct recorded_thread *thread);
void recording__pause(struct recording *recording);
void recording__resume(struct recording *recording, uint64_t time_ns);

/*
 * A thread has executed a program, and all others of its process have ended: hands over the CPU
 * time that it had then. Its id is that of the process from now on. 0 or -ENOMEM.
 */
int recording__exec_thread(struct recording *recording, const struct recorded_thread *thread);

/* Whether recording__settle_thread() would hand over nothing; `comm` may be NULL. */
bool recording__has_settled(struct recording *recording, const struct recorded_thread *thread);

/* Hands over all CPU time of a living thread, for the profile so far. 0 or -ENOMEM. */
int recording__settle_thread(struct recording *recording, const struct recorded_thread *thread);

/*
 * Completes the profile so far with the names that can be found now, after all living threads were
 * settled. `comm` and `cpu_ns` are as below.
 */
void recording__complete(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns);

/*
 * Completes a process whose threads have all ended or been ended. `cpu_ns` is what the kernel
 * charged the process during the session, or 0 if that is unknown; what no thread accounts for is
 * unsampled time of `comm`.
 */
void recording__finish(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns);

/*
 * The layout votes of a process. Initially and after recording__exec() they know no interpreter:
 * the caller adds those. NULL: no such process.
 */
struct layout_votes *recording__votes(struct recording *recording, pid_t pid);

/* Samples so far, per class; the caller adds those that BPF dropped. */
const uint64_t *recording__classes(const struct recording *recording);

/* Those of them with script on the stack, complete or not. */
uint64_t recording__script_samples(const struct recording *recording);

/*
 * Fills in functions, nodes, categories, which subprofiles own, and the recorder's counts; its
 * texts and times are left to the caller. Valid until the recording is freed.
 */
void recording__export(struct recording *recording, struct ls_profile *profile);

/* The function that stands for those that were evicted: see pruning.h. */
uint32_t recording__other(const struct recording *recording);

/*
 * Begins another profile: samples, times and counts start anew, all other knowledge stays. Samples
 * whose time is not handed over yet get it in the next profile. 0; -ENOMEM: nothing has changed.
 */
int recording__restart(struct recording *recording);

#endif
