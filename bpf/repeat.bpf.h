/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loops whose body the verifier checks only once.
 *
 * repeat(count, step, context) calls step(i, context) for i = 0 .. count - 1 until it returns 1,
 * and returns the number of calls. `count` is at most LS_ROUNDS_MAX, and LS_STEP(step) must follow
 * the definition of `step`.
 *
 * This is bpf_loop(), new in Linux 5.17. Objects for kernels before 6.1 are built with
 * LS_OLD_KERNEL: they use bpf_for_each_map_elem() (Linux 5.13) to visit the elements of an array
 * whose content does not matter. One object with both would be half as large again and take 35 ms
 * longer to load.
 */
#ifndef LS_REPEAT_BPF_H
#define LS_REPEAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#ifdef LS_OLD_KERNEL

#define LS_ROUNDS_MAX 8448 /* more than twice LS_DEPTH_MAX */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LS_ROUNDS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} round_numbers __weak SEC(".maps");

struct ls_visit {
	void *context;
	__u32 count;
};

#define LS_STEP(step)                                                                              \
	static long step##_at(void *map, const __u32 *i, void *element, struct ls_visit *visit)    \
	{                                                                                          \
		return *i >= visit->count || step(*i, visit->context);                             \
	}                                                                                          \
	_Static_assert(1, "for the semicolon")

#define repeat(limit, step, argument)                                                              \
	({                                                                                         \
		struct ls_visit visit = {.context = (argument), .count = (limit)};                 \
		long visited = bpf_for_each_map_elem(&round_numbers, step##_at, &visit, 0);        \
                                                                                                   \
		visited < visit.count ? visited : visit.count;                                     \
	})

#else

#define LS_STEP(step)                _Static_assert(1, "bpf_loop() needs no more")
#define repeat(count, step, context) bpf_loop(count, step, context, 0)

#endif

#endif
