/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the stack of a musl thread. The thread's control block lies above the stack, in the same
 * mapping, and says where it is. glibc's is found without a search (standing_thread.c).
 */
#ifndef LS_MUSL_THREAD_H
#define LS_MUSL_THREAD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Searches from `sp` to `end`, the end of its mapping, for the control block of the stack that `sp`
 * is in. 0: according to it, the stack is [*low, *high) in a mapping that pthread_create() made;
 * *high is not beyond `end`. -ENOENT: there is none.
 */
int musl_thread__stack(pid_t pid, uint64_t sp, uint64_t end, uint64_t *low, uint64_t *high);

#endif
