/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash of words, the same in BPF and in user space. */
#ifndef LS_FOLD_H
#define LS_FOLD_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Returns the hash of what `hash` is the hash of, and `word`. */
static inline __attribute__((always_inline)) __u64 ls_fold(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio, odd */
	return hash ^ (hash >> 29);
}

#endif
