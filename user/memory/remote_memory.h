/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One read of another process's memory, without a cache. */
#ifndef LS_REMOTE_MEMORY_H
#define LS_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Reads as many bytes as can be read, at most `size`. Returns the count, or -errno. Of a process
 * whose first thread has ended, another thread's memory is read, which is the same.
 */
ssize_t remote_memory__read(pid_t pid, uint64_t address, void *to, size_t size);

/* The same for `count` pieces, IOV_MAX at most, which follow each other in `to`. */
ssize_t remote_memory__read_pieces(pid_t pid, const struct iovec *pieces, size_t count, void *to,
				   size_t size);

#endif
