/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/threads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/process.h"
#include "system/privileges.h"
#include "system/resource_limits.h"

#define ROUNDS_MAX 1000

/*
 * -ESRCH: the thread is gone, which is not an error. Its CPU time counts from here on, or from
 * threads__resume() on.
 */
static int attach_thread(const struct threads *threads, pid_t tid)
{
	uint64_t runtime_ns;
	char comm[16];
	int error = process__thread_runtime_ns(threads->pid, tid, &runtime_ns);

	if (!error)
		error = process__name(tid, comm);
	if (tid == threads->pid && threads->begin_ns && threads->begin_ns < runtime_ns)
		runtime_ns = threads->begin_ns;
	if (!error && !threads->is_paused && !threads->is_newborn)
		error = recording__begin_thread(
			threads->recording,
			&(struct recorded_thread){threads->pid, (uint32_t)tid, comm, runtime_ns});
	if (!error)
		error = sampler__attach_thread(threads->sampler, threads->pid, tid);
	return error == -ENOENT ? -ESRCH : error;
}

typedef int thread_attacher(const struct threads *threads, pid_t tid);

/* So many threads get timers at once, whatever the time: most processes have fewer. */
#define THREADS_LEAST 64

/* Returns on how many threads it started timers, or -errno; -EAGAIN: not on all of them. */
static int attach_new_threads(const struct threads *threads, thread_attacher *attach,
			      uint64_t until_ns)
{
	pid_t *tids = NULL;
	ssize_t count = process__threads(threads->pid, &tids);
	int attached = 0, error = 0;

	for (ssize_t i = 0; i < count && !error; i++) {
		if (sampler__has_thread(threads->sampler, tids[i]))
			continue;
		if (attached >= THREADS_LEAST && clock_ns(CLOCK_MONOTONIC) >= until_ns)
			error = -EAGAIN;
		else
			error = attach(threads, tids[i]);
		attached += !error;
		if (error == -ESRCH)
			error = 0;
	}
	free(tids);
	if (count < 0)
		return count;
	return error ? error : attached;
}

/* Threads without timers may create others, so this repeats until there are none. */
static int attach_all(const struct threads *threads, thread_attacher *attach, uint64_t until_ns)
{
	int attached, rounds = 0;

	do {
		attached = attach_new_threads(threads, attach, until_ns);
	} while (attached > 0 && ++rounds < ROUNDS_MAX);
	return attached;
}

/* CPU time of the process from when on it is recorded. */
static uint64_t start_ns(const struct threads *threads)
{
	uint64_t now_ns;

	if (threads->is_newborn || process__runtime_ns(threads->pid, &now_ns))
		return 0;
	return threads->begin_ns && threads->begin_ns < now_ns ? threads->begin_ns : now_ns;
}

int threads__attach(struct threads *threads, const char *target, uint64_t until_ns)
{
	char remedy[PRIVILEGES_REMEDY_SIZE];
	bool has_ended;
	int attached;

	if (!threads->is_incomplete)
		threads->cpu_start_ns = start_ns(threads);
	else if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
		return 0;
	attached = attach_all(threads, attach_thread, until_ns);
	has_ended = attached == -ENOENT || attached == -ESRCH; /* what there is will show that */
	threads->is_incomplete = attached == -EAGAIN;
	recording__set_partial(threads->recording, threads->pid,
			       attached < 0 && !has_ended && !threads->is_newborn);
	if (attached >= 0 || threads->is_incomplete || has_ended)
		return 0;
	if (attached == -EMFILE)
		log_error("cannot start timers on all threads of %s: too many open files (each "
			  "thread takes some: try a higher 'ulimit -n')",
			  target);
	else if (attached == -EACCES || attached == -EPERM)
		log_error("cannot start timers on %s: permission denied (%s)", target,
			  privileges__remedy("CAP_PERFMON", remedy));
	else
		log_error("cannot start timers on %s: %s", target,
			  resource_limits__reason(attached));
	return attached;
}

bool threads__have_inherited(const struct threads *threads)
{
	pid_t *tids = NULL;
	ssize_t count = process__threads(threads->pid, &tids);
	bool any = false;

	for (ssize_t i = 0; i < count && !any; i++)
		any = !timers__attached_ns(sampler__timers(threads->sampler), tids[i]);
	free(tids);
	return any;
}

/* Unlike attach_thread(): the recording already knows the thread and its CPU time. */
static int attach_again(const struct threads *threads, pid_t tid)
{
	return sampler__attach_thread(threads->sampler, threads->pid, tid);
}

int threads__attach_again(const struct threads *threads)
{
	int attached = attach_all(threads, attach_again, UINT64_MAX);

	return attached >= 0 || attached == -ENOENT || attached == -ESRCH ? 0 : attached;
}

/* BPF has already reported a zombie's end. */
static bool is_alive(pid_t tid)
{
	char state = process__state(tid);

	return state && state != 'Z' && state != 'X';
}

typedef int thread_visitor(struct recording *recording, const struct recorded_thread *thread);

/* Returns what the visitor did, or 0 if the thread ends. */
static int visit_thread(const struct threads *threads, struct recorded_thread *thread,
			thread_visitor *visitor)
{
	bool settles = visitor == recording__settle_thread || visitor == recording__end_thread;
	char comm[16];

	/* Most of thousands sleep, and their time is known. */
	if (settles && recording__has_settled(threads->recording, thread))
		return 0;
	if (!is_alive((pid_t)thread->tid) || process__name((pid_t)thread->tid, comm))
		return 0;
	thread->comm = comm;
	return visitor(threads->recording, thread);
}

/*
 * Calls `visitor` for all living threads with their CPU time. Returns how many calls returned 1, or
 * -errno; -EAGAIN: until_ns came first.
 */
static int visit(const struct threads *threads, thread_visitor *visitor, uint64_t until_ns)
{
	pid_t *tids = NULL;
	ssize_t count = process__threads(threads->pid, &tids);
	int result = 0, sum = 0;

	for (ssize_t i = 0; i < count && result >= 0; i++) {
		struct recorded_thread thread = {.pid = threads->pid, .tid = (uint32_t)tids[i]};

		if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
			result = -EAGAIN;
		else if (!process__thread_runtime_ns(threads->pid, tids[i], &thread.runtime_ns))
			result = visit_thread(threads, &thread, visitor);
		sum += result > 0;
	}
	free(tids);
	/* The process has ended. */
	if (count == -ENOENT || count == -ESRCH)
		return 0;
	if (count < 0)
		return (int)count;
	return result < 0 ? result : sum;
}

static uint64_t cpu_so_far_ns(const struct threads *threads)
{
	uint64_t runtime_ns;

	if (threads->is_paused)
		return threads->cpu_ns;
	if (process__runtime_ns(threads->pid, &runtime_ns) || runtime_ns < threads->cpu_start_ns)
		return 0;
	return threads->cpu_ns + runtime_ns - threads->cpu_start_ns;
}

/* 0 or -errno. */
static int explain(const char *what, int result)
{
	if (result >= 0)
		return 0;
	log_error("cannot %s the recording, which ends here: %s", what, strerror(-result));
	return result;
}

int threads__pause(struct threads *threads)
{
	int error = visit(threads, recording__pause_thread, UINT64_MAX);

	threads->cpu_ns = cpu_so_far_ns(threads);
	threads->is_paused = true;
	return explain("pause", error);
}

/*
 * Repeats until no thread is new, because one that a listing missed would be charged for the pause.
 * The CPU time of threads that end meanwhile is only in the process's total.
 */
int threads__resume(struct threads *threads)
{
	int resumed, rounds = 0;

	if (process__runtime_ns(threads->pid, &threads->cpu_start_ns))
		threads->cpu_start_ns = 0;
	threads->is_paused = false;
	do {
		resumed = visit(threads, recording__resume_thread, UINT64_MAX);
	} while (resumed > 0 && ++rounds < ROUNDS_MAX);
	return explain("resume", resumed);
}

void threads__refresh(struct threads *threads)
{
	threads->cpu_so_far_ns = cpu_so_far_ns(threads);
}

void threads__settle(struct threads *threads, uint64_t until_ns)
{
	threads__refresh(threads);
	threads->is_unsettled = visit(threads, recording__settle_thread, until_ns) == -EAGAIN;
}

/* What is not settled is not in the total yet, and would be counted twice. */
void threads__complete(struct threads *threads, const char *name)
{
	recording__complete(threads->recording, threads->pid, name,
			    threads->is_unsettled ? 0 : threads->cpu_so_far_ns);
}

void threads__end(struct threads *threads, const char *name, uint64_t until_ns)
{
	visit(threads, recording__end_thread, until_ns);
	threads->cpu_ns = threads->cpu_so_far_ns = cpu_so_far_ns(threads);
	recording__finish(threads->recording, threads->pid, name, threads->cpu_ns);
}
