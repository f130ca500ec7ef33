/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A confined process (confinement.h) that reads the files and the memory of targets, which may
 * block it for ever. It serves one request at a time. If it does not answer, luaspy kills it, and
 * abandons it if it cannot die, as when it waits for a FUSE file system. The next request starts
 * another worker.
 */
#ifndef LS_WORKER_H
#define LS_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "worker/message.h"

/* Address space that a worker may map beyond what it inherits. */
#define WORKER_BYTES (96U << 20)

/* The callbacks that run in the worker. */
struct worker_job {
	void *(*begin)(void); /* its state, for all requests; NULL: out of memory */
	void (*serve)(void *state, struct message *request, struct message *answer);
	void (*end)(void *state); /* frees it; a worker just exits */
};

/*
 * Called while luaspy waits for the worker: polls `fd` for up to timeout_ms milliseconds and
 * handles whatever else is due. 1: `fd` is readable; 0: it is not; -EINTR: luaspy has something
 * more urgent to do than to wait.
 */
struct worker_waiter {
	void *context;
	int (*wait)(void *context, int fd, int timeout_ms);
};

struct worker;

/*
 * Starts the spawner, which forks all workers: call this before luaspy opens anything. 0 or -errno.
 * worker__free() takes NULL.
 */
int worker__start(const struct worker_job *job, struct worker **worker);
void worker__free(struct worker *worker);

/* Without a waiter, calls poll `fd` alone. `waiter` is copied. */
void worker__set_waiter(struct worker *worker, const struct worker_waiter *waiter);

/* No call waits beyond `until_ns` (CLOCK_MONOTONIC). UINT64_MAX: there is no deadline. */
void worker__set_deadline(struct worker *worker, uint64_t until_ns);

/*
 * Sends a request and waits for the answer. 0 with *answer; -EAGAIN: the deadline passed or the
 * waiter returned -EINTR: the worker goes on, and the same request made again gets its answer;
 * -EBUSY: the worker still serves another request; -ETIMEDOUT: it was blocked for a second in all,
 * or did not answer in 20 seconds, and was killed; -EIO: it died, perhaps of the limit on CPU time;
 * -ECHILD: none could be started.
 * *spent_ns is the CPU time that workers used meanwhile.
 */
int worker__call(struct worker *worker, const struct message *request, struct message *answer,
		 uint64_t *spent_ns);

/* Whether the worker still serves a request whose call returned -EAGAIN; whether it is this one. */
bool worker__is_busy(const struct worker *worker);
bool worker__works_on(const struct worker *worker, const struct message *request);

/* Waits for that request, and returns what worker__call() would. */
int worker__finish(struct worker *worker, struct message *answer, uint64_t *spent_ns);

/* CPU time that all workers have used. */
uint64_t worker__cpu_ns(const struct worker *worker);

#endif
