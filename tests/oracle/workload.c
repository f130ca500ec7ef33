/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 10000

static void run(const char *program, const char *modules, const char *script, const char *argument,
		int output)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/?.so", modules);
	dup2(output, STDOUT_FILENO);
	setenv("LUA_CPATH", path, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execlp(program, program, script, argument, (char *)NULL);
	_exit(127);
}

static int read_start(int fd, struct workload *workload)
{
	struct pollfd event = {.fd = fd, .events = POLLIN};
	char line[64];
	ssize_t length;
	int ready = poll(&event, 1, START_MS);

	if (ready <= 0)
		return ready ? -errno : -ETIMEDOUT;
	length = read(fd, line, sizeof(line) - 1);
	if (length <= 0)
		return -ECHILD;
	line[length] = '\0';
	return sscanf(line, "%" SCNx64 " %d", &workload->truth_address, &workload->tid) == 2
		       ? 0
		       : -EBADMSG;
}

int workload__start(const char *program, const char *modules, const char *script,
		    const char *argument, struct workload *workload)
{
	int ends[2], error;

	if (pipe(ends))
		return -errno;
	workload->pid = fork();
	if (!workload->pid)
		run(program, modules, script, argument, ends[1]);
	close(ends[1]);
	error = workload->pid < 0 ? -errno : read_start(ends[0], workload);
	close(ends[0]);
	if (!error && kill(workload->pid, SIGSTOP))
		error = -errno;
	if (error && workload->pid > 0)
		workload__end(workload);
	return error;
}

int workload__continue(const struct workload *workload)
{
	return kill(workload->pid, SIGCONT) ? -errno : 0;
}

int workload__find(const struct workload *workload, struct interpreters *found)
{
	struct lua_files *files = lua_files__new();
	int error = files ? interpreters__find(files, workload->pid, found) : -ENOMEM;

	lua_files__free(files);
	return error;
}

int workload__end(struct workload *workload)
{
	int status;

	kill(workload->pid, SIGKILL);
	if (waitpid(workload->pid, &status, 0) < 0)
		return -errno;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -ECHILD;
}
