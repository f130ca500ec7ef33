/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All reads of the target's memory. A read never faults a page in; it fails instead. `dump` and the
 * tests run the walker in user space: see user/walk/bpf_shim.h.
 */
#ifndef LS_TARGET_BPF_H
#define LS_TARGET_BPF_H

#ifdef __bpf__
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* Returns 0, or a negative error with *to zeroed. Fails as a whole if any page is absent. */
static __always_inline long read_target(void *to, __u32 size, __u64 address)
{
	return bpf_probe_read_user(to, size, (const void *)address);
}

/*
 * Returns the bytes up to and including the NUL, at most `size` (the copy ends in a NUL even then),
 * or a negative error.
 */
static __always_inline long read_target_string(void *to, __u32 size, __u64 address)
{
	return bpf_probe_read_user_str(to, size, (const void *)address);
}

#include "repeat.bpf.h"
#else
#include "walk/bpf_shim.h"
#endif

#endif
