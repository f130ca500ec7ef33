/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "desktop/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/invoker.h"
#include "system/resource_limits.h"

#define PAGER_DEFAULT "less"

extern char **environ;

/* Runs in the child. */
static _Noreturn void be_pager(int input, char **environment, const struct invoker *invoker)
{
	const char *command;

	if (dup2(input, STDIN_FILENO) < 0 || (invoker && invoker__become(invoker)))
		_exit(126);
	if (environment)
		environ = environment;
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	resource_limits__restore();
	command = getenv("PAGER");
	/* As git does: quit if it fits on the screen, pass colors on, leave the text there. */
	setenv("LESS", "FRX", 0);
	execlp("sh", "sh", "-c", command ? command : PAGER_DEFAULT, (char *)NULL);
	_exit(127);
}

/* $PAGER of the user who called sudo, or luaspy's own. */
static const char *pager_of(char **environment)
{
	if (!environment)
		return getenv("PAGER");
	for (; *environment; environment++)
		if (!strncmp(*environment, "PAGER=", 6))
			return *environment + 6;
	return NULL;
}

static bool is_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = path ? strdup(path) : NULL, *rest = copy, *folder;
	bool is_there = false;
	char file[4096];

	while (copy && !is_there && (folder = strtok_r(rest, ":", &rest))) {
		snprintf(file, sizeof(file), "%s/%s", folder, name);
		is_there = !access(file, X_OK);
	}
	free(copy);
	return is_there;
}

static bool is_wanted(const char *command)
{
	return command ? *command && strcmp(command, "cat") != 0 : is_in_path(PAGER_DEFAULT);
}

static pid_t start(char **environment, const struct invoker *invoker, int *output)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return 0;
	pid = fork();
	if (!pid)
		be_pager(ends[0], environment, invoker);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return 0;
	}
	*output = ends[1];
	return pid;
}

void pager__start(struct pager *pager)
{
	struct invoker invoker;
	bool is_for_another = invoker__find(&invoker);
	char **environment = NULL;
	int output = -1;

	*pager = (struct pager){.stream = stdout};
	if (!isatty(STDOUT_FILENO))
		return;
	if (is_for_another) {
		environment = invoker__environment(&invoker);
		if (!environment)
			return;
	}
	if (is_wanted(pager_of(environment)))
		pager->pid = start(environment, is_for_another ? &invoker : NULL, &output);
	invoker__free_environment(environment);
	if (!pager->pid)
		return;
	/*
	 * Ctrl-C is the pager's, and a pager that has quit is not a broken pipe that ends luaspy.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	pager->stream = fdopen(output, "w");
	if (pager->stream)
		return;
	close(output);
	pager->stream = stdout;
}

int pager__end(struct pager *pager)
{
	bool has_failed;
	int error;

	errno = 0;
	has_failed = fflush(pager->stream) || ferror(pager->stream);
	error = has_failed ? (errno ? -errno : -EIO) : 0;
	if (!pager->pid)
		return error;
	if (pager->stream != stdout)
		fclose(pager->stream);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	return error == -EPIPE ? 0 : error;
}
