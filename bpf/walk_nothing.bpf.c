/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that takes a sample of a process without an interpreter that luaspy knows, or whose
 * program user space has yet to inspect, or whose walker is still being loaded: the sample has CPU
 * time, but no stack.
 */
#include "scratch.bpf.h"

struct ls_scratch {
	struct ls_scratch_shared;
	struct ls_scratch_caches;
	struct ls_scratch_record;
};

#include "sample.bpf.h"

SEC("perf_event")
int walk_nothing(struct bpf_perf_event_data *ctx)
{
	struct ls_sampling sampling;

	if (begin_sample(&sampling, 0))
		return 0;
	if (sampling.tick->lacks_walker)
		sampling.scratch->sample.error = LS_WALK_NO_WALKER;
	end_sample(ctx, &sampling);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
