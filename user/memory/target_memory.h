/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The target's memory, read without stopping it. Nothing in it is trusted, and it may change. */
#ifndef LS_TARGET_MEMORY_H
#define LS_TARGET_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct page_cache;

struct target_memory {
	pid_t pid;
	struct page_cache *pages; /* cache for exact reads; NULL: each reads the process */
};

/* Reads exactly `size` bytes. 0, or -errno (-EFAULT: some cannot be read) with *to undefined. */
int target_memory__read(const struct target_memory *memory, uint64_t address, void *to,
			size_t size);

/* Reads as many bytes as can be read, at most `size`. Returns the count, or -errno. */
ssize_t target_memory__read_some(const struct target_memory *memory, uint64_t address, void *to,
				 size_t size);

#endif
