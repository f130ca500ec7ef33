/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stands in, outside the kernel, for what the walkers in bpf/ need from it: bpf/target.bpf.h
 * includes this file when it is not compiled for BPF. The target is whatever was selected: a
 * process, or a test's image of one.
 */
#ifndef LS_BPF_SHIM_H
#define LS_BPF_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/cdefs.h>
#include <linux/types.h>

#ifndef __always_inline
#define __always_inline __inline __attribute__((always_inline))
#endif

/* Functions that are global for the BPF linker's sake: here, each includer has its own. */
#undef __noinline
#define __noinline static __attribute__((noinline, unused))

/* Only the verifier needs it. */
#define barrier_var(variable) ((void)(variable))

struct bpf_shim_target {
	void *context;
	/* Like bpf_probe_read_user(): 0, or -EFAULT with *to all zero if any byte is missing. */
	long (*read)(void *context, void *to, __u32 size, __u64 address);
	/* Like bpf_probe_read_user_str(): the length with the NUL, which a full buffer has, too. */
	long (*read_string)(void *context, void *to, __u32 size, __u64 address);
	bool has_other_threads; /* besides the one whose registers and stack are searched */
};

/* Makes the walkers read this target from here on. It is borrowed; NULL: every read fails. */
void bpf_shim__select(const struct bpf_shim_target *target);

/* Of the selected target; false if there is none. */
bool bpf_shim__has_other_threads(void);

long bpf_shim__read(void *to, __u32 size, __u64 address);
long bpf_shim__read_string(void *to, __u32 size, __u64 address);

/* Like bpf_loop(): the number of iterations, or -E2BIG. */
long bpf_shim__repeat(__u32 count, long (*step)(__u32 i, void *context), void *context);

#define read_target(to, size, address)        bpf_shim__read(to, size, address)
#define read_target_string(to, size, address) bpf_shim__read_string(to, size, address)
#define repeat(count, step, context)          bpf_shim__repeat(count, step, context)
#define LS_STEP(step)                         _Static_assert(1, "nothing but the step is needed")

#endif
