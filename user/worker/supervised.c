/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/supervised.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process.h"

#define BLOCKED_NS UINT64_C(10000000000)
#define STEP_MS    100

struct supervised {
	pid_t pid;
	int pid_fd, signal_fd;
	uint64_t runtime_ns; /* of the child, when it last ran */
	uint64_t ran_ns;     /* CLOCK_MONOTONIC */
};

static int catch_signals(sigset_t *former)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, former);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* Whether the child has not run for BLOCKED_NS. */
static bool is_blocked(struct supervised *child)
{
	uint64_t runtime_ns = 0, now_ns = clock_ns(CLOCK_MONOTONIC);

	process__runtime_ns(child->pid, &runtime_ns);
	if (runtime_ns != child->runtime_ns || process__state(child->pid) == 'R')
		child->ran_ns = now_ns;
	child->runtime_ns = runtime_ns;
	return now_ns - child->ran_ns > BLOCKED_NS;
}

static int status_of(const struct supervised *child, int *signal_number)
{
	int status;

	if (waitpid(child->pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	*signal_number = WTERMSIG(status);
	return -EINTR;
}

static int supervise(struct supervised *child, int *signal_number)
{
	struct pollfd events[] = {{.fd = child->pid_fd, .events = POLLIN},
				  {.fd = child->signal_fd, .events = POLLIN}};
	struct signalfd_siginfo signal;

	while (true) {
		poll(events, 2, STEP_MS);
		if (events[0].revents)
			return status_of(child, signal_number);
		if (events[1].revents &&
		    read(child->signal_fd, &signal, sizeof(signal)) == sizeof(signal)) {
			*signal_number = (int)signal.ssi_signo;
			return -EINTR;
		}
		if (is_blocked(child))
			return -ETIMEDOUT;
	}
}

int supervised__run(int (*work)(void *context), void *context, int *signal_number)
{
	struct supervised child = {.ran_ns = clock_ns(CLOCK_MONOTONIC)};
	sigset_t former;
	int result;

	fflush(NULL);
	child.signal_fd = catch_signals(&former);
	child.pid = fork();
	if (!child.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &former, NULL);
		exit(work(context));
	}
	if (child.pid < 0)
		return -errno;
	child.pid_fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	result = supervise(&child, signal_number);
	/* The child is not waited for: if it is blocked in the kernel, it may never die. */
	if (result < 0)
		kill(child.pid, SIGKILL);
	close(child.pid_fd);
	close(child.signal_fd);
	sigprocmask(SIG_SETMASK, &former, NULL);
	return result;
}
