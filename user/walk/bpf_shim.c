/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walk/bpf_shim.h"

#include <errno.h>
#include <string.h>

#define LOOPS_MAX (1U << 23) /* BPF_MAX_LOOPS, include/linux/bpf.h */

/* Global, because the walkers pass no context of ours on. */
static const struct bpf_shim_target *current;

void bpf_shim__select(const struct bpf_shim_target *target)
{
	current = target;
}

bool bpf_shim__has_other_threads(void)
{
	return current && current->has_other_threads;
}

long bpf_shim__read(void *to, __u32 size, __u64 address)
{
	if (current)
		return current->read(current->context, to, size, address);
	memset(to, 0, size);
	return -EFAULT;
}

long bpf_shim__read_string(void *to, __u32 size, __u64 address)
{
	if (current)
		return current->read_string(current->context, to, size, address);
	memset(to, 0, size);
	return -EFAULT;
}

long bpf_shim__repeat(__u32 count, long (*step)(__u32 i, void *context), void *context)
{
	if (count > LOOPS_MAX)
		return -E2BIG;
	for (__u32 i = 0; i < count; i++)
		if (step(i, context))
			return i + 1;
	return count;
}
