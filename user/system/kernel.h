/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this kernel offers and allows. */
#ifndef LS_KERNEL_H
#define LS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Stores the kernel release, such as "6.18.5-cloud". For display only: distributions backport
 * features to old releases.
 */
void kernel__release(char *release, size_t size);

/*
 * Probes the kernel for the BPF helpers that luaspy needs and describes those that it lacks:
 * "bpf_for_each_map_elem and bpf_task_pt_regs (Linux 5.15 and later have them)"; "" if none is
 * missing, or if luaspy may not probe. Returns `to`.
 */
char *kernel__lacks(char *to, size_t size);

/*
 * Checks for the kernel's BTF, by which BPF programs find struct fields. 0; -ENOENT: the kernel was
 * built without it; -EACCES.
 */
int kernel__btf(void);

/*
 * The lockdown mode: "none", "integrity" or "confidentiality". 0; -ENOENT: the kernel has none, or
 * does not show it, as in containers.
 */
int kernel__lockdown(char *mode, size_t size);

/*
 * Loads a BPF program that reads kernel memory. 0; -EINVAL: the kernel forbids that, as
 * lockdown=confidentiality does; -EPERM: this process may load none; other -errno.
 */
int kernel__try_reading(void);

/* kernel.perf_event_max_sample_rate in Hz: timers are throttled above it. 0: unknown. */
uint32_t kernel__max_sample_rate(void);

/* kernel.perf_event_paranoid; INT_MIN: unknown. */
int kernel__paranoia(void);

/*
 * Whether /proc lists processes under the ids by which this process knows them. It does not if it
 * was mounted in another PID namespace.
 */
int kernel__proc_is_ours(void);

/* Opens and closes a perf event on luaspy itself, like the timers of a session. 0 or -errno. */
int kernel__try_timer(void);

#endif
