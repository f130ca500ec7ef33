/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns what the scheduler charged each thread into the time of its samples.
 *
 * A sample says where a thread was, but not for how long: ticks get lost on virtual machines, and a
 * thread that sleeps often loses a part of each period. The duration follows from the thread's CPU
 * time, which every sample carries: exactly, or as of the scheduler's last tick or switch
 * (record.h). In that case the value moves at the ends of the thread's pieces of work, and a single
 * move would favour the long pieces. So samples are grouped in windows of a hundred or more. Those
 * of a window share what the thread was charged in it, in proportion to the timer's period at each.
 *
 * The time before a thread's first sample belongs to the first window. After the last move of the
 * value, a sample stands for at most one period: the rest, and all time of threads without samples,
 * is unsampled.
 */
#ifndef LS_CPU_TIME_H
#define LS_CPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct cpu_time;

struct cpu_time_receiver {
	void *context;
	/* `ns` of CPU time belong to `node`, as passed to cpu_time__sample(). */
	void (*charge)(void *context, uint32_t node, uint64_t ns);
	/* `ns` of CPU time of a thread with that name belong to no sample. */
	void (*unsampled)(void *context, const char *comm, uint64_t ns);
};

/*
 * For the threads of one process; `first_tid` is its id. NULL when out of memory. Free with
 * cpu_time__free(), which takes NULL.
 */
struct cpu_time *cpu_time__new(uint32_t first_tid, const struct cpu_time_receiver *receiver);
void cpu_time__free(struct cpu_time *time);

/* A thread that existed when sampling began, with its CPU time then. 0 or -ENOMEM. */
int cpu_time__begin(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * A thread has executed a program: the kernel has ended all others, and given it the id of the
 * first one. Its CPU time goes on.
 */
void cpu_time__exec(struct cpu_time *time);

/*
 * Adds a sample, in the order in which they were taken. A thread that was not begun was created
 * since, with 0; but one with the id of the first, after that has ended, is executing a program.
 * The share of the `dropped_before` lost samples is unsampled. 0 or -ENOMEM.
 */
int cpu_time__sample(struct cpu_time *time, const struct ls_sample *sample, uint32_t node);

/*
 * The thread ended: `runtime_ns` is final. The kernel lists it until it has released what the
 * process held, which takes a second for some gigabytes. Until cpu_time__gone(), or until thousands
 * more have ended, calls that take the CPU time of a living thread from such a list ignore it. 0 or
 * -ENOMEM.
 */
int cpu_time__end(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * A thread that ended is not listed any more. That the first one ended is remembered nevertheless,
 * for cpu_time__sample().
 */
void cpu_time__gone(struct cpu_time *time, uint32_t tid);

/*
 * Stops recording a living thread, which was charged `runtime_ns` so far; what it is charged until
 * cpu_time__resume() is not recorded. Its window goes on after that, so that pauses in close
 * succession do not make windows of a few samples. A thread that ends meanwhile ends with its CPU
 * time when it was paused; the end of an unknown one is ignored. 0 or -ENOMEM.
 */
int cpu_time__pause(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * Resumes recording a thread that was paused, or was created since and is unknown. 1; 0: it was not
 * paused; or -ENOMEM.
 */
int cpu_time__resume(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * Hands over all CPU time of a living thread: `runtime_ns`, or a little more if its samples say so;
 * for a paused thread, its CPU time when it was paused. An unknown thread was created since. 0 or
 * -ENOMEM.
 */
int cpu_time__settle(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/* Whether that would hand over nothing. */
bool cpu_time__has_settled(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns);

/*
 * As cpu_time__end() and cpu_time__settle(), while all threads are paused: an unknown thread was
 * created since, and is ignored.
 */
void cpu_time__end_known(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns);
void cpu_time__settle_known(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns);

/* Ends every thread whose end was not seen, with the CPU time of its last sample. */
void cpu_time__end_all(struct cpu_time *time);

/* Sets used[node] to 1 for each node whose share is not handed over yet. */
void cpu_time__mark(const struct cpu_time *time, uint8_t *used);

/* Changes node `i` of the samples so far to nodes[i]. */
void cpu_time__renumber(struct cpu_time *time, const uint32_t *nodes);

/* All CPU time handed to the receiver so far, in ns. */
uint64_t cpu_time__total_ns(const struct cpu_time *time);

#endif
