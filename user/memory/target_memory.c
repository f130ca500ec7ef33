/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory/target_memory.h"

#include <errno.h>

#include "memory/page_cache.h"
#include "memory/remote_memory.h"

ssize_t target_memory__read_some(const struct target_memory *memory, uint64_t address, void *to,
				 size_t size)
{
	return remote_memory__read(memory->pid, address, to, size);
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
