/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One read of another process's memory, without a cache. */
#ifndef LS_REMOTE_MEMORY_H
#define LS_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads as many bytes as can be read, at most `size`. Returns the count, or -errno. */
ssize_t remote_memory__read(pid_t pid, uint64_t address, void *to, size_t size);

#endif
