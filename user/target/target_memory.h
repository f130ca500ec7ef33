/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of the target, read without stopping it. All of it is hostile and may change. */
#ifndef LS_TARGET_MEMORY_H
#define LS_TARGET_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target_memory {
	pid_t pid;
};

/* Reads exactly `size` bytes. 0, or -errno (-EFAULT: some of it is not there) with *to undefined.
 */
int target_memory__read(const struct target_memory *memory, uint64_t address, void *to,
			size_t size);

/* Reads what there is, at most `size` bytes. The count, or -errno. */
ssize_t target_memory__read_some(const struct target_memory *memory, uint64_t address, void *to,
				 size_t size);

#endif
