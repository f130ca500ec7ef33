/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks one address up in its caller's memory: by the kernel's tree of mappings, by its helper, and
 * among the gaps between mappings.
 */
#include "scratch.bpf.h"

struct ls_scratch {
	struct ls_scratch_shared;
	struct ls_scratch_caches;
	struct ls_scratch_record;
};

#include "sample.bpf.h"
#include "unmapped.bpf.h"

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

/* 0: the address is in a gap that was known, 1: in one learned now, 2: in none, 3: unknown. */
SEC("raw_tp")
int by_gap(struct bpf_raw_tracepoint_args *ctx)
{
	struct ls_scratch *scratch = scratch_here();
	__u64 address = ctx->args[0];

	if (!scratch)
		return 3;
	recall_gaps(scratch);
	if (gaps_of(scratch)->sequence & 1)
		return 3;
	scratch->search.lost = address;
	for (__u32 is_new = 0; is_new < 2; is_new++) {
		for (__u32 i = 0; i < LS_GAPS_MAX; i++) {
			bounds.low = scratch->search.barren[i].low;
			bounds.high = scratch->search.barren[i].high;
			if (address >= bounds.low && address < bounds.high)
				return is_new;
		}
		learn_gap(scratch);
		recall_gaps(scratch);
	}
	return 2;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
