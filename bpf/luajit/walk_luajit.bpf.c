/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that takes a sample of LuaJIT; sampler.bpf.c tail-calls it. */
#include "luajit/scratch_luajit.bpf.h"

#include "maps.bpf.h"
#include "send.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LS_LAYOUT_MAX);
	__type(key, __u32);
	__type(value, struct ls_luajit_layout);
} layouts_luajit SEC(".maps");

static __always_inline const struct ls_luajit_layout *find_layout(__u32 slot)
{
	return bpf_map_lookup_elem(&layouts_luajit, &slot);
}

#include "select_layout.bpf.h"
#include "luajit/walk_luajit.bpf.h"
#include "sample.bpf.h"

SEC("perf_event")
int walk_luajit(struct bpf_perf_event_data *ctx)
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
	end_sample(ctx, &sampling);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
