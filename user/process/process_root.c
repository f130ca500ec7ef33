/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths as a process sees them, which may be in a container or a chroot. */
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens `path` below `folder`. No link leads out: absolute ones begin there, ".." ends there. */
static int open_in(int folder, const char *path, int flags)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (uint64_t)flags,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return file < 0 ? -errno : file;
}

int process__open_in_root(pid_t pid, const char *path, int flags)
{
	char root_path[32];
	int root, file;

	snprintf(root_path, sizeof(root_path), "/proc/%d/root", pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	file = open_in(root, path, flags);
	close(root);
	return file;
}

/* Where /proc/PID/`link` leads: a path from luaspy's root, or from that of another namespace. */
static int read_link(pid_t pid, const char *link, char *to, size_t size)
{
	char path[32];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, link);
	length = readlink(path, to, size);
	if (length < 0)
		return -errno;
	if ((size_t)length >= size)
		return -ENAMETOOLONG;
	to[length] = '\0';
	return 0;
}

/* Whether `path` in the root of the process is its working directory. */
static bool is_working_directory(pid_t pid, const char *path)
{
	int found = process__open_in_root(pid, path, 0);
	struct stat there, status;
	char link[32];
	bool is_same;

	if (found < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	is_same = !fstat(found, &there) && !stat(link, &status) && there.st_dev == status.st_dev &&
		  there.st_ino == status.st_ino;
	close(found);
	return is_same;
}

int process__working_directory(pid_t pid, char *to, size_t size)
{
	char root[4096];
	size_t length;
	int error = read_link(pid, "cwd", to, size);

	if (!error)
		error = read_link(pid, "root", root, sizeof(root));
	if (error)
		return error;
	/* Both begin at the same root, so in a chroot the one is below the other. */
	length = strlen(root);
	if (length > 1 && !strncmp(to, root, length) && (to[length] == '/' || !to[length]))
		memmove(to, to + length, strlen(to + length) + 1);
	return is_working_directory(pid, *to ? to : "/") ? 0 : -ENOENT;
}
