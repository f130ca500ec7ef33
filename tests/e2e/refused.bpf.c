/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program with a long verifier log: it reads behind its context, after many instructions. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define STEPS 64

SEC("perf_event")
int refused(void *context)
{
	volatile __u64 sum = 0;

#pragma unroll
	for (int i = 0; i < STEPS; i++)
		sum += bpf_ktime_get_ns();
	return sum + *(volatile __u64 *)(context + 4096);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
