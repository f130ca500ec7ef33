/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/target_memory.h"

#include <errno.h>
#include <sys/uio.h>

#include "process/page_cache.h"

ssize_t target_memory__read_some(const struct target_memory *memory, uint64_t address, void *to,
				 size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t count = process_vm_readv(memory->pid, &local, 1, &remote, 1, 0);

	return count < 0 ? -errno : count;
}

int target_memory__read(const struct target_memory *memory, uint64_t address, void *to, size_t size)
{
	ssize_t count;

	if (memory->pages)
		return page_cache__read(memory->pages, memory->pid, address, to, size);
	count = target_memory__read_some(memory, address, to, size);
	if (count < 0)
		return (int)count;
	return (size_t)count == size ? 0 : -EFAULT;
}
