/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cpu_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Samples that share: enough that where a window ends has no say in what its samples weigh. */
#define WINDOW 100

struct thread {
	uint32_t tid;
	char comm[LS_COMM_LEN];
	uint64_t window_ns; /* CPU time where the window began */
	uint64_t value_ns;  /* as its latest samples carried it */
	uint64_t dropped;   /* lost samples that share with `nodes` */
	uint32_t *nodes;    /* of the window's samples */
	size_t count, room;
	size_t since_move; /* samples, lost ones included, that carried value_ns */
	UT_hash_handle hh;
};

struct cpu_time {
	uint64_t period_ns;
	uint64_t total_ns;
	struct cpu_time_receiver receiver;
	struct thread *threads;
};

struct cpu_time *cpu_time__new(uint64_t period_ns, const struct cpu_time_receiver *receiver)
{
	struct cpu_time *time = calloc(1, sizeof(*time));

	if (!time)
		return NULL;
	time->period_ns = period_ns;
	time->receiver = *receiver;
	return time;
}

static void forget(struct cpu_time *time, struct thread *thread)
{
	HASH_DEL(time->threads, thread);
	free(thread->nodes);
	free(thread);
}

void cpu_time__free(struct cpu_time *time)
{
	struct thread *thread, *next;

	if (!time)
		return;
	HASH_ITER (hh, time->threads, thread, next)
		forget(time, thread);
	free(time);
}

static struct thread *find(struct cpu_time *time, uint32_t tid)
{
	struct thread *thread;

	HASH_FIND(hh, time->threads, &tid, sizeof(tid), thread);
	return thread;
}

static void set_comm(struct thread *thread, const char *comm)
{
	memcpy(thread->comm, comm, strnlen(comm, LS_COMM_LEN - 1) + 1);
	thread->comm[LS_COMM_LEN - 1] = '\0';
}

static struct thread *find_or_add(struct cpu_time *time, uint32_t tid, const char *comm)
{
	struct thread *thread = find(time, tid);

	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return NULL;
		thread->tid = tid;
		HASH_ADD(hh, time->threads, tid, sizeof(tid), thread);
	}
	set_comm(thread, comm);
	return thread;
}

int cpu_time__begin(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread = find_or_add(time, tid, comm);

	if (!thread)
		return -ENOMEM;
	thread->window_ns = runtime_ns;
	thread->value_ns = runtime_ns;
	return 0;
}

static void charge(struct cpu_time *time, uint32_t node, uint64_t ns)
{
	if (!ns)
		return;
	time->total_ns += ns;
	time->receiver.charge(time->receiver.context, node, ns);
}

static void unsampled(struct cpu_time *time, const struct thread *thread, uint64_t ns)
{
	if (!ns)
		return;
	time->total_ns += ns;
	time->receiver.unsampled(time->receiver.context, thread->comm, ns);
}

/* Ends a window: shares `ns` among its samples, lost ones included. */
static void share(struct cpu_time *time, struct thread *thread, uint64_t ns)
{
	uint64_t parts = thread->count + thread->dropped;
	uint64_t each, rest;

	if (!parts) {
		unsampled(time, thread, ns);
		return;
	}
	each = ns / parts;
	rest = ns % parts;
	for (size_t i = 0; i < thread->count; i++)
		charge(time, thread->nodes[i], each + (i < rest));
	if (thread->dropped)
		unsampled(time, thread,
			  each * thread->dropped +
				  (rest > thread->count ? rest - thread->count : 0));
	thread->count = 0;
	thread->dropped = 0;
}

static int add_node(struct thread *thread, uint32_t node)
{
	if (thread->count == thread->room) {
		size_t room = thread->room ? thread->room * 2 : 4;
		uint32_t *nodes = realloc(thread->nodes, room * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		thread->nodes = nodes;
		thread->room = room;
	}
	thread->nodes[thread->count++] = node;
	return 0;
}

int cpu_time__sample(struct cpu_time *time, const struct ls_sample *sample, uint32_t node)
{
	struct thread *thread = find_or_add(time, sample->tid, sample->comm);

	if (!thread)
		return -ENOMEM;
	thread->dropped += sample->dropped_before;
	thread->since_move += sample->dropped_before;
	if (sample->runtime_ns > thread->value_ns) {
		thread->value_ns = sample->runtime_ns;
		if (thread->count + thread->dropped >= WINDOW) {
			share(time, thread, thread->value_ns - thread->window_ns);
			thread->window_ns = thread->value_ns;
		}
		thread->since_move = 0;
	}
	thread->since_move++;
	return add_node(thread, node);
}

static void end(struct cpu_time *time, struct thread *thread, uint64_t runtime_ns)
{
	uint64_t since = runtime_ns > thread->value_ns ? runtime_ns - thread->value_ns : 0;
	uint64_t most = thread->since_move * time->period_ns;

	if (since > most) {
		unsampled(time, thread, since - most);
		since = most;
	}
	share(time, thread, thread->value_ns - thread->window_ns + since);
	forget(time, thread);
}

int cpu_time__end(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread = find_or_add(time, tid, comm);

	if (!thread)
		return -ENOMEM;
	end(time, thread, runtime_ns);
	return 0;
}

void cpu_time__end_all(struct cpu_time *time)
{
	struct thread *thread, *next;

	HASH_ITER (hh, time->threads, thread, next)
		end(time, thread, thread->value_ns);
}

uint64_t cpu_time__total_ns(const struct cpu_time *time)
{
	return time->total_ns;
}
