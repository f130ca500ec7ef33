/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the walkers of bpf/ ask of the kernel, on this host: bpf/target.bpf.h includes it where
 * there is no BPF. The target is a fake address space (memory.h).
 */
#ifndef TEST_HOST_H
#define TEST_HOST_H

#include <stddef.h>
#include <sys/cdefs.h>
#include <linux/types.h>

#ifndef __always_inline
#define __always_inline __inline __attribute__((always_inline))
#endif
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif

/* As bpf_probe_read_user(): 0, or -EFAULT with all of *to zeroed if any byte is not there. */
long host__read(void *to, __u32 size, __u64 address);

/* As bpf_probe_read_user_str(): the length with its NUL, which a full buffer has too; -EFAULT. */
long host__read_string(void *to, __u32 size, __u64 address);

/* As bpf_loop(): the rounds made, or -E2BIG. */
long host__repeat(__u32 count, long (*step)(__u32 i, void *context), void *context);

#define read_target(to, size, address)        host__read(to, size, address)
#define read_target_string(to, size, address) host__read_string(to, size, address)
#define repeat(count, step, context)          host__repeat(count, step, context)

#endif
