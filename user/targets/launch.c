/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "system/invoker.h"
#include "system/resource_limits.h"

extern char **environ;

struct launch {
	const char *name; /* the command, borrowed */
	pid_t pid;        /* 0: it was waited for */
	int gate;         /* pipe: a byte lets the child go on, closing it ends the child */
	int failure;      /* pipe in which the child says why it could not */
	int exit_status;  /* once pid is 0 */
	bool is_apart;    /* it has no terminal */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Runs in the child. 0 or -errno. */
static int leave_terminal(void)
{
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
		int nothing, error;

		if (!isatty(file))
			continue;
		nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		error = nothing < 0 || dup2(nothing, file) < 0 ? -errno : 0;
		if (nothing >= 0)
			close(nothing);
		if (error)
			return error;
	}
	return setsid() < 0 ? -errno : 0;
}

/* Runs in the child. Returns only if the command cannot be executed: -errno. */
static int execute(char *const *words, char **environment, const struct invoker *invoker)
{
	int error = invoker ? invoker__become(invoker) : 0;

	if (error)
		return error;
	/* Not execvpe(), so that the command is searched for in that environment's PATH, too. */
	if (environment)
		environ = environment;
	resource_limits__restore();
	execvp(words[0], words);
	return -errno;
}

static _Noreturn void be_child(int gate, int failure, bool is_apart, char *const *words,
			       char **environment, const struct invoker *invoker)
{
	int error = is_apart ? leave_terminal() : 0;
	char go;

	if (read(gate, &go, 1) != 1)
		_exit(1);
	if (!error)
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
		be_child(gate[0], failure[1], launch->is_apart, words, environment, invoker);
	}
	close(gate[0]);
	close(failure[1]);
	launch->gate = gate[1];
	launch->failure = failure[0];
	return error;
}

static int make(char *const *words, bool is_apart, struct launch **launch)
{
	struct launch *new = calloc(1, sizeof(*new));
	char **environment = NULL;
	struct invoker invoker;
	bool is_for_another = invoker__find(&invoker);
	int error = new ? 0 : -ENOMEM;

	*launch = NULL;
	if (!error && is_for_another) {
		environment = invoker__environment(&invoker);
		error = environment ? 0 : -ENOMEM;
	}
	if (!error) {
		new->gate = new->failure = -1;
		new->name = words[0];
		new->is_apart = is_apart;
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

int launch__new(char *const *words, struct launch **launch)
{
	return make(words, false, launch);
}

int launch__new_apart(char *const *words, struct launch **launch)
{
	return make(words, true, launch);
}

bool launch__is_apart(const struct launch *launch)
{
	return launch->is_apart;
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
	/* A successful execution closes the other end, which ends this read. */
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

#define END_MS 3000 /* for a command to obey SIGTERM */

void launch__end(const struct launch *launch)
{
	struct pollfd event = {.events = POLLIN};

	if (launch->pid <= 0)
		return;
	event.fd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	kill(-launch->pid, SIGTERM);
	kill(-launch->pid, SIGCONT);
	if (event.fd < 0 || poll(&event, 1, END_MS) <= 0)
		kill(-launch->pid, SIGKILL);
	close_fd(&event.fd);
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
