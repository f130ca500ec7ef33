/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks one address up in its caller's memory: by the kernel's tree of mappings, and by its helper.
 */
#include "find_mapping.bpf.h"

struct ls_bounds bounds;
__u64 took_ns;

SEC("raw_tp")
int by_tree(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ls_scratch *scratch = scratch_here();
	__u64 begin_ns = bpf_ktime_get_ns();
	int error;

	if (!scratch)
		return 2;
	error = read_tree(scratch, task, ctx->args[0], &bounds);
	took_ns += bpf_ktime_get_ns() - begin_ns;
	return error;
}

SEC("raw_tp")
int by_helper(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 begin_ns = bpf_ktime_get_ns();
	struct ls_bounds found = {};
	int error = bpf_find_vma(bpf_get_current_task_btf(), ctx->args[0], note_bounds, &found, 0);

	took_ns += bpf_ktime_get_ns() - begin_ns;
	bounds = found;
	return !!error;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
