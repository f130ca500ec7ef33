/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that takes a sample of PUC Lua; sampler.bpf.c tail-calls it. */
#include "puc/scratch_puc.bpf.h"

#include "maps.bpf.h"
#include "send.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LS_LAYOUT_MAX);
	__type(key, __u32);
	__type(value, struct ls_puc_layout);
} layouts_puc SEC(".maps");

static __always_inline const struct ls_puc_layout *find_layout(__u32 slot)
{
	return bpf_map_lookup_elem(&layouts_puc, &slot);
}

#include "select_layout.bpf.h"
#include "puc/walk_puc.bpf.h"
#include "gc.bpf.h"
#include "sample.bpf.h"

SEC("perf_event")
int walk_puc(struct bpf_perf_event_data *ctx)
{
	struct ls_sampling sampling;
	struct ls_scratch *scratch;

	if (begin_sample(&sampling, LS_FAMILY))
		return 0;
	scratch = sampling.scratch;
	if (!scratch->sample.error) {
		select_layout(scratch, sampling.thread, sampling.image);
		check_stack_end(scratch, sampling.thread);
	}
	if (scratch->sample.frame_count && is_in_gc(scratch, sampling.image))
		scratch->sample.activity = LS_ACTIVITY_GC;
	end_sample(ctx, &sampling);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
