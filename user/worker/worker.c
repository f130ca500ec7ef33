/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process.h"
#include "worker/service.h"
#include "worker/spawner.h"

/* Files and memory take milliseconds to read, and wait for a busy disk up to this. */
#define BLOCKED_NS UINT64_C(1000000000)

/* For a worker that gets no CPU time; the CPU time that it uses is limited separately. */
#define WALL_NS UINT64_C(20000000000)

#define STEP_MS 20 /* between checks of the state of a worker that does not answer */

struct worker {
	struct spawner spawner;
	struct worker_waiter waiter;
	uint64_t deadline_ns;
	int fd; /* the socket of the current worker; -1: there is none */
	pid_t pid;
	struct message pending; /* the request that it serves; empty: none */
	uint64_t pending_ns;    /* when it was sent */
	uint64_t checked_ns;    /* when the worker was last checked since */
	uint64_t blocked_ns;    /* how long it was blocked until then */
	uint64_t former_cpu_ns; /* of former workers */
	uint64_t cpu_ns;        /* of this one, by its last answer or check */
};

static int merely_wait(void *context, int fd, int timeout_ms)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};

	(void)context;
	return poll(&answer, 1, timeout_ms) > 0;
}

int worker__start(const struct worker_job *job, struct worker **started)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	int error;

	*started = worker;
	if (!worker)
		return -ENOMEM;
	worker->fd = -1;
	worker->waiter.wait = merely_wait;
	worker->deadline_ns = UINT64_MAX;
	error = spawner__start(job, &worker->spawner);
	if (!error)
		return 0;
	free(worker);
	*started = NULL;
	return error;
}

static void note_cpu(struct worker *worker)
{
	uint64_t cpu_ns;

	if (!process__runtime_ns(worker->pid, &cpu_ns) && cpu_ns > worker->cpu_ns)
		worker->cpu_ns = cpu_ns;
}

static void abandon(struct worker *worker)
{
	if (worker->fd < 0)
		return;
	note_cpu(worker);
	/* The id is still its own: the spawner reaps it when it starts the next. */
	kill(worker->pid, SIGKILL);
	close(worker->fd);
	worker->fd = -1;
	worker->pid = 0;
	worker->former_cpu_ns += worker->cpu_ns;
	worker->cpu_ns = 0;
	message__clear(&worker->pending);
}

void worker__free(struct worker *worker)
{
	if (!worker)
		return;
	abandon(worker);
	spawner__stop(&worker->spawner);
	message__free(&worker->pending);
	free(worker);
}

void worker__set_waiter(struct worker *worker, const struct worker_waiter *waiter)
{
	worker->waiter = *waiter;
}

void worker__set_deadline(struct worker *worker, uint64_t until_ns)
{
	worker->deadline_ns = until_ns;
}

uint64_t worker__cpu_ns(const struct worker *worker)
{
	return worker->former_cpu_ns + worker->cpu_ns;
}

/*
 * A worker that runs or waits for a CPU is not blocked, however long it takes. One that is blocked
 * now was blocked since the last check, but for the CPU time that it used.
 */
static void note_blocked(struct worker *worker, char state, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - worker->checked_ns, before_ns = worker->cpu_ns, ran_ns;

	note_cpu(worker);
	ran_ns = worker->cpu_ns - before_ns;
	if (state != 'R' && passed_ns > ran_ns)
		worker->blocked_ns += passed_ns - ran_ns;
	worker->checked_ns = now_ns;
}

/* Why waiting for the worker is pointless; 0: it is not. */
static int judge(struct worker *worker, uint64_t now_ns)
{
	char state = process__state(worker->pid);

	if (!state || state == 'Z' || state == 'X')
		return -EIO;
	note_blocked(worker, state, now_ns);
	return worker->blocked_ns > BLOCKED_NS || now_ns - worker->pending_ns > WALL_NS ? -ETIMEDOUT
											: 0;
}

/* Waits until the answer begins. */
static int await_answer(struct worker *worker)
{
	while (true) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		int result, error;

		result = worker->waiter.wait(worker->waiter.context, worker->fd,
					     now_ns < worker->deadline_ns ? STEP_MS : 0);
		if (result > 0)
			return 0;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		error = judge(worker, now_ns);
		/* It may have answered since the wait, and be idle or have ended for that reason.
		 */
		if (error)
			return merely_wait(NULL, worker->fd, 0) ? 0 : error;
		if (result < 0 || now_ns >= worker->deadline_ns)
			return -EAGAIN;
	}
}

/* Half an answer cannot be left for later, so this ignores the deadline. */
static int read_rest(struct worker *worker, uint8_t *at, size_t size)
{
	while (size) {
		int error = await_answer(worker);
		ssize_t count = error ? 0 : recv(worker->fd, at, size, MSG_DONTWAIT);

		if (error == -EAGAIN) {
			/* After the deadline, await_answer() does not wait. */
			merely_wait(NULL, worker->fd, STEP_MS);
			continue;
		}
		if (error)
			return error;
		if (count <= 0)
			return -EIO;
		at += count;
		size -= (size_t)count;
	}
	return 0;
}

/* There is one request, so one recv() never holds two answers. */
static int read_answer(struct worker *worker, struct message *answer)
{
	struct {
		struct service_header header;
		uint8_t bytes[SERVICE_AT_ONCE];
	} first;
	int error = await_answer(worker);
	ssize_t count = error ? 0 : recv(worker->fd, &first, sizeof(first), MSG_DONTWAIT);
	size_t there;
	uint8_t *bytes;

	if (error)
		return error;
	if (count < (ssize_t)sizeof(first.header))
		return -EIO;
	there = (size_t)count - sizeof(first.header);
	message__clear(answer);
	if (first.header.cpu_ns >= worker->cpu_ns)
		worker->cpu_ns = first.header.cpu_ns;
	bytes = there <= first.header.size && first.header.size <= MESSAGE_BYTES_MAX
			? message__extend(answer, first.header.size)
			: NULL;
	if (!bytes)
		return -EIO;
	memcpy(bytes, first.bytes, there);
	error = read_rest(worker, bytes + there, first.header.size - there);
	if (!error && first.header.error < 0)
		answer->error = first.header.error;
	return error;
}

int worker__finish(struct worker *worker, struct message *answer, uint64_t *spent_ns)
{
	uint64_t before_ns = worker__cpu_ns(worker);
	int error = read_answer(worker, answer);

	if (!error)
		message__clear(&worker->pending);
	else if (error != -EAGAIN)
		abandon(worker);
	*spent_ns = worker__cpu_ns(worker) - before_ns;
	return error;
}

bool worker__is_busy(const struct worker *worker)
{
	return worker->pending.size != 0;
}

bool worker__works_on(const struct worker *worker, const struct message *request)
{
	return worker->pending.size == request->size &&
	       !memcmp(worker->pending.bytes, request->bytes, request->size);
}

static int send_request(struct worker *worker, const struct message *request)
{
	struct service_header header = {.size = (uint32_t)request->size};
	struct iovec parts[] = {{&header, sizeof(header)}, {request->bytes, request->size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	message__put(&worker->pending, request->bytes, request->size);
	if (worker->pending.error)
		return -ENOMEM;
	worker->pending_ns = worker->checked_ns = clock_ns(CLOCK_MONOTONIC);
	worker->blocked_ns = 0;
	/* The socket is empty and a request is small, so this never blocks. */
	if (sendmsg(worker->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    (ssize_t)(sizeof(header) + request->size))
		return -EIO;
	return 0;
}

/* Starts a worker if there is none. 0; -EAGAIN: it has not started yet; -ECHILD: it never will. */
static int have_worker(struct worker *worker)
{
	if (worker->fd >= 0)
		return 0;
	if (spawner__ask(&worker->spawner))
		return -ECHILD;
	while (true) {
		bool is_due = clock_ns(CLOCK_MONOTONIC) >= worker->deadline_ns;
		int result = worker->waiter.wait(worker->waiter.context, worker->spawner.fd,
						 is_due ? 0 : STEP_MS);

		if (result > 0)
			break;
		if (result < 0 || is_due)
			return -EAGAIN;
	}
	return spawner__take(&worker->spawner, &worker->pid, &worker->fd) ? -ECHILD : 0;
}

int worker__call(struct worker *worker, const struct message *request, struct message *answer,
		 uint64_t *spent_ns)
{
	int error = 0;

	*spent_ns = 0;
	if (worker__is_busy(worker))
		return worker__works_on(worker, request) ? worker__finish(worker, answer, spent_ns)
							 : -EBUSY;
	error = have_worker(worker);
	if (error)
		return error;
	error = send_request(worker, request);
	if (!error)
		return worker__finish(worker, answer, spent_ns);
	abandon(worker);
	return error;
}
