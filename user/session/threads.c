/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "process.h"

/* -ESRCH: the thread is gone, which is nothing to complain about. */
static int attach_thread(const struct threads *threads, pid_t tid)
{
	uint64_t runtime_ns;
	char comm[16];
	int error = process__thread_runtime_ns(threads->pid, tid, &runtime_ns);

	if (!error)
		error = process__name(tid, comm);
	if (!error)
		error = recording__begin_thread(threads->recording, tid, comm, runtime_ns);
	if (!error)
		error = sampler__attach_thread(threads->sampler, tid);
	return error == -ENOENT ? -ESRCH : error;
}

/* Returns how many timers it started, or -errno. */
static int attach_new_threads(const struct threads *threads)
{
	pid_t *tids = NULL;
	ssize_t count = process__threads(threads->pid, &tids);
	int attached = 0, error = 0;

	for (ssize_t i = 0; i < count && !error; i++) {
		if (sampler__has_thread(threads->sampler, tids[i]))
			continue;
		error = attach_thread(threads, tids[i]);
		attached += !error;
		if (error == -ESRCH)
			error = 0;
	}
	free(tids);
	if (count < 0)
		return count;
	return error ? error : attached;
}

/* Threads may be born by threads that have no timer yet: until there is none without. */
int threads__attach(struct threads *threads, const char *target)
{
	int attached, rounds = 0;

	if (process__runtime_ns(threads->pid, &threads->cpu_start_ns))
		threads->cpu_start_ns = 0;
	do {
		attached = attach_new_threads(threads);
	} while (attached > 0 && ++rounds < 1000);
	if (attached >= 0)
		return 0;
	if (attached == -EMFILE)
		log_error("cannot start timers: %s has more threads than files may be open (try "
			  "a higher 'ulimit -n')",
			  target);
	else if (attached == -EACCES || attached == -EPERM)
		log_error("cannot start timers on %s: permission denied (try sudo or CAP_PERFMON)",
			  target);
	else if (attached == -ENOENT || attached == -ESRCH)
		return 0; /* the process has ended: what there is will show that */
	else
		log_error("cannot start timers on %s: %s", target, strerror(-attached));
	return attached;
}

/* A zombie has told its end itself. */
static int is_alive(pid_t tid)
{
	char state = process__state(tid);

	return state && state != 'Z' && state != 'X';
}

void threads__end(struct threads *threads, const char *name)
{
	pid_t *tids = NULL;
	ssize_t count = process__threads(threads->pid, &tids);
	uint64_t runtime_ns;
	char comm[16];

	for (ssize_t i = 0; i < count; i++)
		if (is_alive(tids[i]) &&
		    !process__thread_runtime_ns(threads->pid, tids[i], &runtime_ns) &&
		    !process__name(tids[i], comm))
			recording__end_thread(threads->recording, tids[i], comm, runtime_ns);
	free(tids);
	if (!process__runtime_ns(threads->pid, &runtime_ns))
		threads->cpu_ns = runtime_ns - threads->cpu_start_ns;
	recording__finish(threads->recording, name, threads->cpu_ns);
}
