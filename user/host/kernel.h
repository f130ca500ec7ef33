/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this kernel offers and allows. */
#ifndef LS_KERNEL_H
#define LS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* "6.18.5-cloud" and the like, to be shown: distributions bring features back to old releases. */
void kernel__release(char *release, size_t size);

/*
 * What luaspy needs of BPF and this kernel does not know, by asking it: "bpf_loop and bpf_find_vma
 * (Linux 5.17 and later have them)"; "" where nothing is missing, or the kernel may not be asked.
 * Returns `to`.
 */
char *kernel__lacks(char *to, size_t size);

/* Types of the kernel, by which BPF programs find fields. 0; -ENOENT: built without; -EACCES. */
int kernel__btf(void);

/*
 * Lockdown, as in "none", "integrity", "confidentiality" (which forbids BPF to read memory). 0;
 * -ENOENT where the kernel has none or does not show it.
 */
int kernel__lockdown(char *mode, size_t size);

/* kernel.perf_event_max_sample_rate in Hz: timers are throttled above it. 0: unknown. */
uint32_t kernel__max_sample_rate(void);

/* kernel.perf_event_paranoid; INT_MIN: unknown. */
int kernel__paranoia(void);

/*
 * Whether /proc shows processes by the ids that this process knows them by. It does not where it
 * was mounted in another PID namespace.
 */
int kernel__proc_is_ours(void);

/* Starts a timer like those of a session on luaspy itself, and ends it. 0 or -errno. */
int kernel__try_timer(void);

#endif
