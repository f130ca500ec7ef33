/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory/remote_memory.h"

#include <errno.h>
#include <sys/uio.h>

ssize_t remote_memory__read(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t count = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return count < 0 ? -errno : count;
}
