/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns what the scheduler charged each thread into the time of its samples.
 *
 * A sample says where a thread was, not how long: ticks get lost on virtual machines, and a thread
 * that sleeps often loses a part of each period. How long is in the thread's CPU time, which every
 * sample carries. That value moves only now and then: at scheduler ticks, at switches, whenever
 * somebody asks for it. Nothing may be read out of the single moves: they come at the ends of
 * whatever the thread does in pieces, and would favour the long pieces. So samples are taken
 * together in windows of a hundred or more, and those of a window share what the thread was
 * charged in it, in proportion to the period that the timer had at each.
 *
 * The stretch before a thread's first sample ends with it and belongs to the first window. After
 * the last move of the value a sample stands for no more than one period: the rest, and all time
 * of threads without a sample, is unsampled.
 */
#ifndef LS_CPU_TIME_H
#define LS_CPU_TIME_H

#include <stdint.h>

#include "record.h"

struct cpu_time;

struct cpu_time_receiver {
	void *context;
	/* `ns` of CPU time belong to what charge was handed as `node`. */
	void (*charge)(void *context, uint32_t node, uint64_t ns);
	/* `ns` of a thread of that name belong to no sample. */
	void (*unsampled)(void *context, const char *comm, uint64_t ns);
};

/* NULL when out of memory. Free with cpu_time__free(), which takes NULL. */
struct cpu_time *cpu_time__new(const struct cpu_time_receiver *receiver);
void cpu_time__free(struct cpu_time *time);

/* A thread that existed when sampling began, with its CPU time then. 0 or -ENOMEM. */
int cpu_time__begin(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * A sample, in the order in which they were taken. A thread not begun was born since, with 0.
 * `dropped_before` samples of it were lost: their share is unsampled. 0 or -ENOMEM.
 */
int cpu_time__sample(struct cpu_time *time, const struct ls_sample *sample, uint32_t node);

/* The thread ended, or the session did while it lived: `runtime_ns` is final. 0 or -ENOMEM. */
int cpu_time__end(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * Recording is off from here on for a thread that lives and was charged `runtime_ns` so far; what
 * it is charged until cpu_time__resume() is nobody's. A window goes on after that: pauses that
 * follow closely on one another do not make windows of a few samples. A thread that ends meanwhile
 * ends with what it was paused with, one that is not known is passed over. 0 or -ENOMEM.
 */
int cpu_time__pause(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * It is on again: for a thread that was paused, or born since and is not known. 1; 0: it is on
 * already; or -ENOMEM.
 */
int cpu_time__resume(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * A living thread that was charged `runtime_ns` so far: all of that is handed over, of a paused one
 * what it was paused with. Where it is not known it was born since. 0 or -ENOMEM.
 */
int cpu_time__settle(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns);

/*
 * The same two, while all are paused: a thread that is not known was born since, and is passed
 * over.
 */
void cpu_time__end_known(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns);
void cpu_time__settle_known(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns);

/* Ends every thread whose end was not seen with the CPU time of its last sample. */
void cpu_time__end_all(struct cpu_time *time);

/* Marks the nodes whose share is not handed over yet: used[node] is 1 then. */
void cpu_time__mark(const struct cpu_time *time, uint8_t *used);

/* What was handed over as node `i` is nodes[i] from now on. */
void cpu_time__renumber(struct cpu_time *time, const uint32_t *nodes);

/* All CPU time handed to the receiver so far, in ns. */
uint64_t cpu_time__total_ns(const struct cpu_time *time);

#endif
