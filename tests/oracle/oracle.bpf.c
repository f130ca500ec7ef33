/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies what the target says about its stack, then hands over to the product's own programs, in
 * the same interrupt: the target cannot have run in between.
 */
#include "maps.bpf.h"
#include "send.bpf.h"
#include "truth.h"
#include <bpf/bpf_tracing.h>

__u64 truth_address; /* of the struct truth in the target, */
__u64 fetch_address; /* of its published fetches; 0: it publishes none */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct truth_record);
} truths SEC(".maps");

/* The product's entry, its only element. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} product SEC(".maps");

SEC("perf_event")
int take_truth(struct bpf_perf_event_data *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u32 zero = 0;
	struct truth_record *record = bpf_map_lookup_elem(&truths, &zero);

	if (!record)
		return 0;
	record->type = TRUTH_RECORD;
	record->time_ns = bpf_ktime_get_ns();
	record->ip = PT_REGS_IP(regs);
	record->fetch.is_read =
		fetch_address && !read_target(&record->fetch.before, 16, fetch_address);
	record->is_read = !read_target(&record->truth, sizeof(record->truth), truth_address);
	send_record(record, sizeof(*record)); /* if lost, its sample stays unpaired */
	bpf_tail_call(ctx, &product, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
