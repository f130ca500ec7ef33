/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/cpu_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

/* Samples per window: enough that the place where it ends does not affect their weights. */
#define WINDOW 100

/*
 * Threads that have ended and are not known to be gone. Most are gone within 20 ms; more than this
 * have lost the records that say so.
 */
#define ENDED_MOST 4096

struct part {
	uint32_t node;
	uint32_t period_ns; /* of the timer then: the sample's weight */
};

struct thread {
	uint32_t tid;
	char comm[LS_COMM_LEN];
	uint64_t window_ns; /* CPU time when the window began */
	uint64_t value_ns;  /* CPU time in its latest samples */
	struct part *parts; /* the window's samples */
	size_t count, room;
	uint64_t dropped;       /* lost samples of the window */
	uint64_t dropped_ns;    /* and their weight */
	uint64_t since_move_ns; /* periods of the samples that carried value_ns, lost ones included
				 */
	uint64_t paused_ns;     /* CPU time when it was paused */
	bool is_paused;
	bool has_ended; /* and was charged everything */
	UT_hash_handle hh;
};

struct cpu_time {
	uint32_t first_tid;
	uint64_t total_ns;
	struct cpu_time_receiver receiver;
	struct thread *threads;
	size_t ended; /* of these */
};

struct cpu_time *cpu_time__new(uint32_t first_tid, const struct cpu_time_receiver *receiver)
{
	struct cpu_time *time = calloc(1, sizeof(*time));

	if (!time)
		return NULL;
	time->first_tid = first_tid;
	time->receiver = *receiver;
	return time;
}

static void forget(struct cpu_time *time, struct thread *thread)
{
	time->ended -= thread->has_ended;
	HASH_DEL(time->threads, thread);
	free(thread->parts);
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

static struct thread *find_living(struct cpu_time *time, uint32_t tid)
{
	struct thread *thread = find(time, tid);

	return thread && !thread->has_ended ? thread : NULL;
}

static bool has_ended(struct cpu_time *time, uint32_t tid)
{
	const struct thread *thread = find(time, tid);

	return thread && thread->has_ended;
}

/* Takes ownership of the thread. */
static struct thread *add(struct cpu_time *time, struct thread *thread)
{
	HASH_ADD(hh, time->threads, tid, sizeof(thread->tid), thread);
	if (HASH_HAS_ADDED(thread))
		return thread;
	free(thread->parts);
	free(thread);
	return NULL;
}

static void set_comm(struct thread *thread, const char *comm)
{
	memcpy(thread->comm, comm, strnlen(comm, LS_COMM_LEN - 1) + 1);
	thread->comm[LS_COMM_LEN - 1] = '\0';
}

/* Gives the remaining thread the id of the first, which has ended. NULL: there is none. */
static struct thread *become_first(struct cpu_time *time)
{
	struct thread *thread = time->threads;

	while (thread && thread->has_ended)
		thread = thread->hh.next;
	if (!thread)
		return NULL;
	HASH_DEL(time->threads, thread);
	thread->tid = time->first_tid;
	return add(time, thread);
}

/* What now has the id of a thread that ended is another thread. NULL: it is unknown. */
static struct thread *find_next(struct cpu_time *time, uint32_t tid)
{
	struct thread *thread = find(time, tid);

	if (!thread || !thread->has_ended)
		return thread;
	forget(time, thread);
	return tid == time->first_tid ? become_first(time) : NULL;
}

void cpu_time__exec(struct cpu_time *time)
{
	find_next(time, time->first_tid);
}

static struct thread *find_or_add(struct cpu_time *time, uint32_t tid, const char *comm)
{
	struct thread *thread = find_next(time, tid);

	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return NULL;
		thread->tid = tid;
		thread = add(time, thread);
		if (!thread)
			return NULL;
	}
	set_comm(thread, comm);
	return thread;
}

int cpu_time__begin(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread;

	/* The kernel lists the first as long as others run. */
	if (tid == time->first_tid && has_ended(time, tid))
		return 0;
	thread = find_or_add(time, tid, comm);
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

/*
 * Ends a window: shares `ns` among its samples, lost ones included. What each gets is the
 * difference of running sums, so that nothing is lost to rounding.
 */
static void share(struct cpu_time *time, struct thread *thread, uint64_t ns)
{
	uint64_t all = thread->dropped_ns, sum = 0, charged = 0;

	for (size_t i = 0; i < thread->count; i++)
		all += thread->parts[i].period_ns;
	for (size_t i = 0; i < thread->count && all; i++) {
		uint64_t so_far;

		sum += thread->parts[i].period_ns;
		so_far = (uint64_t)((unsigned __int128)ns * sum / all);
		charge(time, thread->parts[i].node, so_far - charged);
		charged = so_far;
	}
	unsampled(time, thread, ns - charged);
	thread->count = 0;
	thread->dropped = 0;
	thread->dropped_ns = 0;
}

static int add_part(struct thread *thread, uint32_t node, uint32_t period_ns)
{
	if (thread->count == thread->room) {
		size_t room = thread->room ? thread->room * 2 : 4;
		struct part *parts = reallocarray(thread->parts, room, sizeof(*parts));

		if (!parts)
			return -ENOMEM;
		thread->parts = parts;
		thread->room = room;
	}
	thread->parts[thread->count++] = (struct part){node, period_ns};
	return 0;
}

/* An earlier value from BPF may have been too high: see bpf/cpu_time.bpf.h. */
static void correct(struct thread *thread, uint64_t runtime_ns)
{
	if (runtime_ns < thread->value_ns)
		thread->value_ns = runtime_ns > thread->window_ns ? runtime_ns : thread->window_ns;
}

int cpu_time__sample(struct cpu_time *time, const struct ls_sample *sample, uint32_t node)
{
	struct thread *thread = find_or_add(time, sample->tid, sample->comm);
	uint64_t dropped_ns;

	if (!thread)
		return -ENOMEM;
	dropped_ns = (uint64_t)sample->dropped_before * sample->period_ns;
	thread->dropped += sample->dropped_before;
	thread->dropped_ns += dropped_ns;
	thread->since_move_ns += dropped_ns;
	correct(thread, sample->runtime_ns);
	if (sample->runtime_ns > thread->value_ns) {
		thread->value_ns = sample->runtime_ns;
		if (thread->count + thread->dropped >= WINDOW) {
			share(time, thread, thread->value_ns - thread->window_ns);
			thread->window_ns = thread->value_ns;
		}
		thread->since_move_ns = 0;
	}
	thread->since_move_ns += sample->period_ns;
	return add_part(thread, node, sample->period_ns);
}

bool cpu_time__has_settled(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns)
{
	const struct thread *thread = find(time, tid);

	if (!thread || thread->has_ended)
		return thread;
	return !thread->count && !thread->dropped && thread->window_ns >= runtime_ns;
}

/* Hands over all that the thread was charged, and begins a new window. */
static void settle(struct cpu_time *time, struct thread *thread, uint64_t runtime_ns)
{
	uint64_t end_ns = thread->is_paused ? thread->paused_ns : runtime_ns;
	uint64_t since = end_ns > thread->value_ns ? end_ns - thread->value_ns : 0;
	uint64_t value_ns = thread->value_ns + since;

	if (since > thread->since_move_ns) {
		unsampled(time, thread, since - thread->since_move_ns);
		since = thread->since_move_ns;
	}
	share(time, thread, thread->value_ns - thread->window_ns + since);
	thread->window_ns = value_ns;
	thread->value_ns = value_ns;
	thread->since_move_ns = 0;
}

static void forget_ended(struct cpu_time *time)
{
	struct thread *thread, *next;

	HASH_ITER (hh, time->threads, thread, next)
		if (thread->has_ended && thread->tid != time->first_tid)
			forget(time, thread);
}

static void end(struct cpu_time *time, struct thread *thread, uint64_t runtime_ns)
{
	if (time->ended == ENDED_MOST)
		forget_ended(time);
	correct(thread, runtime_ns);
	settle(time, thread, runtime_ns);
	free(thread->parts);
	thread->parts = NULL;
	thread->room = 0;
	thread->is_paused = false;
	thread->has_ended = true;
	time->ended++;
}

int cpu_time__end(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread = find_or_add(time, tid, comm);

	if (!thread)
		return -ENOMEM;
	end(time, thread, runtime_ns);
	return 0;
}

void cpu_time__end_known(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns)
{
	struct thread *thread = find_living(time, tid);

	if (thread)
		end(time, thread, runtime_ns);
}

void cpu_time__gone(struct cpu_time *time, uint32_t tid)
{
	if (tid != time->first_tid && has_ended(time, tid))
		forget(time, find(time, tid));
}

int cpu_time__settle(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread;

	if (has_ended(time, tid))
		return 0;
	thread = find_or_add(time, tid, comm);
	if (!thread)
		return -ENOMEM;
	settle(time, thread, runtime_ns);
	return 0;
}

void cpu_time__settle_known(struct cpu_time *time, uint32_t tid, uint64_t runtime_ns)
{
	struct thread *thread = find_living(time, tid);

	if (thread)
		settle(time, thread, runtime_ns);
}

int cpu_time__pause(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread;

	if (has_ended(time, tid))
		return 0;
	thread = find_or_add(time, tid, comm);
	if (!thread)
		return -ENOMEM;
	if (thread->is_paused)
		return 0;
	thread->is_paused = true;
	thread->paused_ns = runtime_ns > thread->value_ns ? runtime_ns : thread->value_ns;
	return 0;
}

/* Shifts the thread's CPU times by what it was charged while it was paused. */
int cpu_time__resume(struct cpu_time *time, uint32_t tid, const char *comm, uint64_t runtime_ns)
{
	struct thread *thread = find(time, tid);
	uint64_t paused_for;
	int error;

	if (thread && !thread->is_paused)
		return 0;
	/* The tid has been reused. */
	if (thread && runtime_ns < thread->paused_ns) {
		end(time, thread, thread->paused_ns);
		thread = NULL;
	}
	if (!thread) {
		error = cpu_time__begin(time, tid, comm, runtime_ns);
		return error ? error : 1;
	}
	paused_for = runtime_ns - thread->paused_ns;
	thread->window_ns += paused_for;
	thread->value_ns += paused_for;
	thread->is_paused = false;
	return 1;
}

void cpu_time__end_all(struct cpu_time *time)
{
	struct thread *thread, *next;

	forget_ended(time);
	HASH_ITER (hh, time->threads, thread, next) {
		if (!thread->has_ended)
			end(time, thread, thread->value_ns);
		forget(time, thread);
	}
}

void cpu_time__mark(const struct cpu_time *time, uint8_t *used)
{
	for (const struct thread *thread = time->threads; thread; thread = thread->hh.next)
		for (size_t i = 0; i < thread->count; i++)
			used[thread->parts[i].node] = 1;
}

void cpu_time__renumber(struct cpu_time *time, const uint32_t *nodes)
{
	struct thread *thread, *next;

	HASH_ITER (hh, time->threads, thread, next)
		for (size_t i = 0; i < thread->count; i++)
			thread->parts[i].node = nodes[thread->parts[i].node];
}

uint64_t cpu_time__total_ns(const struct cpu_time *time)
{
	return time->total_ns;
}
