/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the walkers of bpf/ ask of the kernel, outside of it: bpf/target.bpf.h includes this where
 * there is no BPF. The target is whatever was selected: a process, or a test's image of one.
 */
#ifndef LS_HOST_H
#define LS_HOST_H

#include <stddef.h>
#include <sys/cdefs.h>
#include <linux/types.h>

#ifndef __always_inline
#define __always_inline __inline __attribute__((always_inline))
#endif

/* What is global for the BPF linker's sake; here, each includer has its own. */
#undef __noinline
#define __noinline static __attribute__((noinline, unused))

struct host_target {
	void *context;
	/* As bpf_probe_read_user(): 0, or -EFAULT with all of *to zeroed if any byte is missing. */
	long (*read)(void *context, void *to, __u32 size, __u64 address);
	/* As bpf_probe_read_user_str(): the length with the NUL, which a full buffer has too. */
	long (*read_string)(void *context, void *to, __u32 size, __u64 address);
};

/* The walkers read this one from here on. It is borrowed; NULL: nothing can be read. */
void host__select(const struct host_target *target);

long host__read(void *to, __u32 size, __u64 address);
long host__read_string(void *to, __u32 size, __u64 address);

/* As bpf_loop(): the rounds made, or -E2BIG. */
long host__repeat(__u32 count, long (*step)(__u32 i, void *context), void *context);

#define read_target(to, size, address)        host__read(to, size, address)
#define read_target_string(to, size, address) host__read_string(to, size, address)
#define repeat(count, step, context)          host__repeat(count, step, context)
#define LS_STEP(step)                         _Static_assert(1, "nothing but the step is needed")

#endif
