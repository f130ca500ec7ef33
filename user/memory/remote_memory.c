/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory/remote_memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static ssize_t read_by(pid_t id, const struct iovec *pieces, size_t count, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	ssize_t bytes = process_vm_readv(id, &local, 1, pieces, count, 0);

	return bytes < 0 ? -errno : bytes;
}

#define TRIES 100 /* threads that are ending all the time must not hold luaspy */

/* A thread that has ended has no memory, though that of its process is there for the others. */
static ssize_t read_by_any_thread(pid_t pid, const struct iovec *pieces, size_t count, void *to,
				  size_t size)
{
	char path[32];
	const struct dirent *entry;
	ssize_t bytes = -ESRCH;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	for (int i = 0; threads && bytes == -ESRCH && i < TRIES && (entry = readdir(threads));
	     i++) {
		pid_t id = atoi(entry->d_name);

		if (id > 0 && id != pid)
			bytes = read_by(id, pieces, count, to, size);
	}
	if (threads)
		closedir(threads);
	return bytes;
}

ssize_t remote_memory__read_pieces(pid_t pid, const struct iovec *pieces, size_t count, void *to,
				   size_t size)
{
	ssize_t bytes = read_by(pid, pieces, count, to, size);

	return bytes == -ESRCH ? read_by_any_thread(pid, pieces, count, to, size) : bytes;
}

ssize_t remote_memory__read(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

	return remote_memory__read_pieces(pid, &piece, 1, to, size);
}
