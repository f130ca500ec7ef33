/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/spawner.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/descriptors.h"
#include "system/helper_process.h"
#include "system/privileges.h"
#include "worker/confinement.h"
#include "worker/service.h"

/* Workers that were killed and cannot die, because the kernel waits on their behalf. */
#define STUCK_MAX 16

/* The priority of luaspy's reader (priority.c). Without CAP_SYS_NICE, it stays at 0. */
#define PRIORITY (-10)

/* The spawner sends this for each request, with the new worker's socket attached. */
struct reply {
	pid_t pid;
	int error;
};

/* The spawner's view of its workers. */
struct children {
	const struct worker_job *job;
	int fd;             /* to luaspy */
	pid_t current;      /* 0: none */
	unsigned int dying; /* were killed and have not been reaped */
};

static void reap(struct children *children)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		if (pid == children->current)
			children->current = 0;
		else
			children->dying--;
	}
}

static void drop_current(struct children *children)
{
	if (!children->current)
		return;
	kill(children->current, SIGKILL);
	children->current = 0;
	children->dying++;
}

/*
 * A stuck worker must not keep luaspy's standard output open: whoever reads that pipe waits for its
 * end.
 */
static void close_files(int kept)
{
	helper_process__close_files(&kept, 1, 3);
}

static void __attribute__((noreturn)) work(const struct worker_job *job, int fd)
{
	prctl(PR_SET_NAME, "luaspy-worker");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Go on even if this fails, as on a kernel without seccomp. */
	confinement__begin(WORKER_BYTES);
	service__run(job, fd);
	_exit(0);
}

static int start_worker(struct children *children, int *fd)
{
	int ends[2];
	pid_t pid;

	if (children->dying >= STUCK_MAX)
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		close_files(ends[1]);
		work(children->job, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	children->current = pid;
	*fd = ends[0];
	return 0;
}

/* Each byte that arrives is a request for a new worker. */
static void spawn(struct children *children)
{
	bool is_heard = true;
	char request;

	while (is_heard && read(children->fd, &request, sizeof(request)) == 1) {
		struct reply reply = {};
		int fd = -1;

		drop_current(children);
		reap(children);
		reply.error = start_worker(children, &fd);
		reply.pid = children->current;
		is_heard = !descriptors__send(children->fd, &reply, sizeof(reply), &fd, fd >= 0);
		if (fd >= 0)
			close(fd);
	}
	drop_current(children);
}

int spawner__start(const struct worker_job *job, struct spawner *spawner)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		struct children children = {.job = job, .fd = ends[1]};

		prctl(PR_SET_NAME, "luaspy-spawner");
		helper_process__ignore_signals();
		close_files(ends[1]);
		/* Luaspy waits for its workers, so they run at its priority. */
		setpriority(PRIO_PROCESS, 0, PRIORITY);
		privileges__keep_reading();
		spawn(&children);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	*spawner = (struct spawner){.pid = pid, .fd = ends[0]};
	return 0;
}

void spawner__stop(struct spawner *spawner)
{
	if (spawner->fd < 0)
		return;
	close(spawner->fd);
	spawner->fd = -1;
	waitpid(spawner->pid, NULL, 0);
}

static int take_reply(int socket, struct reply *reply, int *passed)
{
	int fds[DESCRIPTORS_MOST];
	int count = descriptors__receive(socket, reply, sizeof(*reply), fds);

	if (count > 0)
		*passed = fds[0];
	if (count < 0 || reply->error)
		return count < 0 ? count : reply->error;
	return count == 1 ? 0 : -EPROTO;
}

int spawner__ask(struct spawner *spawner)
{
	if (!spawner->is_asked && send(spawner->fd, "", 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	spawner->is_asked = true;
	return 0;
}

int spawner__take(struct spawner *spawner, pid_t *pid, int *fd)
{
	struct reply reply = {};
	int error = take_reply(spawner->fd, &reply, fd);

	spawner->is_asked = false;
	*pid = reply.pid;
	return error;
}
