/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of a thread of musl's. Its control block lies above it, in the same mapping, and says
 * where it is; glibc's is found without looking (standing_thread.c).
 */
#ifndef LS_MUSL_THREAD_H
#define LS_MUSL_THREAD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Looks for the control block whose stack `sp` is in, between that and `end`, the mapping's end.
 * 0: it is [*low, *high) in a mapping that pthread_create() made, as the target says; *high is not
 * beyond `end`. -ENOENT: there is none.
 */
int musl_thread__stack(pid_t pid, uint64_t sp, uint64_t end, uint64_t *low, uint64_t *high);

#endif
