/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "invoker.h"
#include "log.h"

extern char **environ;

struct launch {
	const char *name; /* the command, borrowed */
	pid_t pid;        /* 0: it was waited for */
	int gate;         /* a byte in it lets the child go on; its end ends the child */
	int failure;      /* where the child says why it could not */
	int exit_status;  /* once it was waited for */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In the child. Returns only where the command cannot be executed: -errno. */
static int execute(char *const *words, char **environment, const struct invoker *invoker)
{
	int error = invoker ? invoker__become(invoker) : 0;

	if (error)
		return error;
	/* Not execvpe(): the command is looked for in that PATH, too. */
	if (environment)
		environ = environment;
	execvp(words[0], words);
	return -errno;
}

static _Noreturn void be_child(int gate, int failure, char *const *words, char **environment,
			       const struct invoker *invoker)
{
	char go;
	int error;

	if (read(gate, &go, 1) != 1)
		_exit(1);
	error = execute(words, environment, invoker);
	if (write(failure, &error, sizeof(error)) != sizeof(error))
		_exit(1);
	_exit(error == -ENOENT ? 127 : 126); /* as shells do */
}

/* 0 or -errno, with nothing left open. */
static int start(struct launch *launch, char *const *words, char **environment,
		 const struct invoker *invoker)
{
	int gate[2], failure[2], error = 0;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	if (pipe2(failure, O_CLOEXEC)) {
		error = -errno;
		close(gate[0]);
		close(gate[1]);
		return error;
	}
	launch->pid = fork();
	if (launch->pid < 0)
		error = -errno;
	if (!launch->pid) {
		close(gate[1]);
		close(failure[0]);
		be_child(gate[0], failure[1], words, environment, invoker);
	}
	close(gate[0]);
	close(failure[1]);
	launch->gate = gate[1];
	launch->failure = failure[0];
	return error;
}

int launch__new(char *const *words, struct launch **launch)
{
	struct launch *new = calloc(1, sizeof(*new));
	char **environment = NULL;
	struct invoker invoker;
	int is_for_another = invoker__find(&invoker);
	int error = new ? 0 : -ENOMEM;

	*launch = NULL;
	if (!error && is_for_another) {
		environment = invoker__environment(&invoker);
		error = environment ? 0 : -ENOMEM;
	}
	if (!error) {
		new->gate = new->failure = -1;
		new->name = words[0];
		error = start(new, words, environment, is_for_another ? &invoker : NULL);
	}
	invoker__free_environment(environment);
	if (!error) {
		*launch = new;
		return 0;
	}
	if (new) {
		close_fd(&new->gate);
		close_fd(&new->failure);
	}
	free(new);
	return error;
}

pid_t launch__pid(const struct launch *launch)
{
	return launch->pid;
}

int launch__release(struct launch *launch)
{
	int error = 0;

	if (write(launch->gate, "", 1) != 1)
		return -errno;
	close_fd(&launch->gate);
	/* Ended by the execution itself, which closes the other end. */
	if (read(launch->failure, &error, sizeof(error)) != sizeof(error))
		error = 0;
	close_fd(&launch->failure);
	if (error == -ENOENT)
		log_error("cannot run '%s': no such command", launch->name);
	else if (error)
		log_error("cannot run '%s': %s", launch->name, strerror(-error));
	return error;
}

bool launch__is_released(const struct launch *launch)
{
	return launch->gate < 0;
}

void launch__signal(const struct launch *launch, int signal)
{
	if (launch->pid > 0)
		kill(launch->pid, signal);
}

/* Passes on the signals that end luaspy, until the command has ended. */
static void pass_on_signals(const struct launch *launch)
{
	struct pollfd events[2] = {
		{.fd = syscall(SYS_pidfd_open, launch->pid, 0), .events = POLLIN},
		{.events = POLLIN}};
	struct signalfd_siginfo signal;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	events[1].fd = signalfd(-1, &signals, SFD_CLOEXEC);
	while (events[0].fd >= 0 && !events[0].revents && poll(events, 2, -1) >= 0)
		if (events[1].revents && read(events[1].fd, &signal, sizeof(signal)) > 0)
			launch__signal(launch, (int)signal.ssi_signo);
	close_fd(&events[0].fd);
	close_fd(&events[1].fd);
}

int launch__wait(struct launch *launch)
{
	int status;

	if (launch->pid <= 0)
		return launch->exit_status;
	pass_on_signals(launch);
	while (waitpid(launch->pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	launch->pid = 0;
	launch->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return launch->exit_status;
}

void launch__free(struct launch *launch)
{
	if (!launch)
		return;
	close_fd(&launch->failure);
	if (launch->gate >= 0) {
		close_fd(&launch->gate);
		launch__wait(launch);
	}
	free(launch);
}
