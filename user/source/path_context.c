/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/path_context.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/process.h"

/* Whether /proc/PID/`name` leads to the same file for this process and for luaspy. */
static bool is_same(pid_t pid, const char *name)
{
	struct stat its, ours;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	if (stat(path, &its))
		return false;
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	return !stat(path, &ours) && its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

/* 0 or -errno. Fails for a zombie, which has neither a root nor a working directory. */
static int read_living(pid_t pid, bool needs_folder, struct path_context *context)
{
	int root = process__open_in_root(pid, "/", 0), error;
	char folder[PATH_MAX];
	pid_t id;

	if (root < 0)
		return root;
	close(root);
	error = process__program_birth_ns(pid, &context->birth_ns);
	if (error)
		return error;
	context->pid = pid;
	id = process__memory_id(pid);
	context->is_shared = is_same(id, "ns/mnt") && is_same(id, "root");
	if (!needs_folder)
		return 0;
	free(context->folder);
	context->folder =
		process__working_directory(pid, folder, sizeof(folder)) ? NULL : strdup(folder);
	return 0;
}

int path_context__read(pid_t pid, bool needs_folder, struct path_context *context)
{
	int error = read_living(pid, needs_folder, context);

	if ((error != -ESRCH && error != -ENOENT) || !context->is_shared)
		return error;
	context->pid = getpid();
	return 0;
}

void path_context__free(struct path_context *context)
{
	free(context->folder);
	context->folder = NULL;
}
