/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths as a process sees them, which may be in a container or a chroot. */
#include "process/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/target_memory.h"

#define AUXILIARY_MOST 64 /* entries of the auxiliary vector; there are about 20 */

/* Opens `path` below `folder`. No link leads out: absolute ones begin there, ".." ends there. */
static int open_in(int folder, const char *path, int flags)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (uint64_t)flags,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return file < 0 ? -errno : file;
}

static int open_root(pid_t id)
{
	char path[32];
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", id);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : root;
}

int process__open_in_root(pid_t pid, const char *path, int flags)
{
	int root = open_root(pid), file;
	pid_t id = root == -ENOENT ? process__memory_id(pid) : pid;

	if (id != pid)
		root = open_root(id);
	if (root < 0)
		return root;
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

/* Whether `path` in the root of the process is what /proc/PID/`name` leads to. */
static bool is_same_file(pid_t pid, const char *path, const char *name)
{
	int found = process__open_in_root(pid, path, 0);
	struct stat there, status;
	char link[32];
	bool is_same;

	if (found < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	is_same = !fstat(found, &there) && !stat(link, &status) && there.st_dev == status.st_dev &&
		  there.st_ino == status.st_ino;
	close(found);
	return is_same;
}

int process__working_directory(pid_t pid, char *to, size_t size)
{
	char root[4096];
	size_t length;
	int error;

	pid = process__memory_id(pid);
	error = read_link(pid, "cwd", to, size);
	if (!error)
		error = read_link(pid, "root", root, sizeof(root));
	if (error)
		return error;
	/* Both begin at the same root, so in a chroot the one is below the other. */
	length = strlen(root);
	if (length > 1 && !strncmp(to, root, length) && (to[length] == '/' || !to[length]))
		memmove(to, to + length, strlen(to + length) + 1);
	return is_same_file(pid, *to ? to : "/", "cwd") ? 0 : -ENOENT;
}

/* Where the kernel put the path on the program's stack. 0 or -errno. */
static int find_executed_path(pid_t pid, uint64_t *address)
{
	Elf64_auxv_t entries[AUXILIARY_MOST];
	ssize_t size;
	char path[32];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	size = read(file, entries, sizeof(entries));
	close(file);
	for (ssize_t i = 0; i < size / (ssize_t)sizeof(*entries); i++) {
		if (entries[i].a_type == AT_EXECFN) {
			*address = entries[i].a_un.a_val;
			return 0;
		}
	}
	return -ENOENT;
}

int process__executed_path(pid_t pid, char *to, size_t size)
{
	const struct target_memory memory = {.pid = process__memory_id(pid)};
	uint64_t address;
	ssize_t length;
	int error = find_executed_path(memory.pid, &address);

	if (error)
		return error;
	length = target_memory__read_some(&memory, address, to, size);
	if (length < 0)
		return (int)length;
	if (!memchr(to, '\0', (size_t)length))
		return -ENAMETOOLONG;
	return *to == '/' && is_same_file(memory.pid, to, "exe") ? 0 : -ENOENT;
}
