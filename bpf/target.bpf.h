/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one door to the target's memory. Reads never fault a page in: what is not there fails. The
 * host twin for tests is tests/walk/host.h, which also counts.
 */
#ifndef LS_TARGET_BPF_H
#define LS_TARGET_BPF_H

#ifdef __bpf__
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* 0, or a negative error with *to zeroed. Fails as a whole if any page of it is not there. */
static __always_inline long read_target(void *to, __u32 size, __u64 address)
{
	return bpf_probe_read_user(to, size, (const void *)address);
}

/* Bytes up to and with the NUL, at most `size` (then NUL-ended all the same); negative: error. */
static __always_inline long read_target_string(void *to, __u32 size, __u64 address)
{
	return bpf_probe_read_user_str(to, size, (const void *)address);
}

#include "repeat.bpf.h"
#else
#include "host.h"
#endif

#endif
