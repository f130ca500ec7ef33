/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread that stands still, mostly in a system call: where it is, according to /proc, without
 * stopping it. If two looks are equal, it has not run between them.
 */
#ifndef LS_STANDING_THREAD_H
#define LS_STANDING_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What one look saw. Comparable by memcmp(): all padding is zero. */
struct standing_thread {
	int64_t system_call; /* its number; -1: interrupted or stopped outside of one */
	uint64_t arguments[6];
	uint64_t sp, pc;
	uint64_t switches; /* how often it has left a processor, voluntarily or not */
	char state;        /* as in /proc/PID/stat */
	char padding[7];
};

/*
 * 0; -EAGAIN: it runs, or waits for a processor; -ESRCH: it is gone, or about to be; -EACCES and
 * -EPERM: not allowed to look; other -errno.
 */
int standing_thread__read(pid_t pid, pid_t tid, struct standing_thread *look);

/* Whether the thread has not run between these two. */
bool standing_thread__stood(const struct standing_thread *before,
			    const struct standing_thread *after);

/* The part of SP's mapping that can be the thread's stack. */
struct thread_stack {
	uint64_t low, high;
	bool is_own; /* it holds nothing but this thread's stack */
};

/* 0; -ENOENT: SP is in no mapping; other -errno. */
int standing_thread__stack(pid_t pid, pid_t tid, uint64_t sp, struct thread_stack *stack);

#endif
