/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that takes a sample of PUC Lua; called by sampler.bpf.c. */
#include "maps.bpf.h"
#include "send.bpf.h"

/*
 * 0, or an error: the definition found no room. A program that makes functions all the time sends
 * more of these than samples: the source is no longer than it is.
 */
static __always_inline long send_definition(struct ls_function *function)
{
	struct ls_counters *counters = counters_here();
	__u32 length = function->source_length;
	long error;

	if (length >= LS_SOURCE_LEN)
		length = LS_SOURCE_LEN - 1;
	error = send_record(function, offsetof(struct ls_function, source) + length + 1);
	if (counters) {
		counters->definitions++;
		counters->records_lost += !!error;
	}
	return error;
}

static __always_inline const struct ls_puc_layout *find_layout(__u32 index)
{
	return bpf_map_lookup_elem(&layouts, &index);
}

/* A reading of the clock for each sample; user space sets it. */
const volatile __u32 measures_itself;

#include "attempt_puc.bpf.h"
#include "collector.bpf.h"
#include "sample.bpf.h"

static __always_inline void take_stack(struct ls_scratch *scratch, struct ls_thread *thread,
				       const struct ls_target *target)
{
	attempt_stack(scratch, thread, target);
	if (has_stack_grown(scratch, thread)) {
		thread->chain_count = 0;
		scratch->sample.frame_count = 0;
		scratch->sample.error = LS_WALK_STACK_BOUNDS;
	}
}

SEC("perf_event")
int walk_puc(struct bpf_perf_event_data *ctx)
{
	struct ls_counters *counters = counters_here();
	struct ls_scratch *scratch = scratch_here();
	struct ls_target *target;
	struct ls_thread *thread;

	if (!counters || !scratch)
		return 0;
	target = bpf_map_lookup_elem(&images, &scratch->image);
	thread = thread_here(scratch);
	/* It was let go this moment. */
	if (!target || !thread) {
		counters->dropped++;
		return 0;
	}
	if (!scratch->sample.error)
		take_stack(scratch, thread, target);
	if (scratch->sample.frame_count && is_in_collector(scratch, target))
		scratch->sample.flags |= LS_SAMPLE_IN_COLLECTOR;
	counters->chunks += scratch->search.chunks_read;
	counters->scans += !!scratch->search.chunks_read;
	send_sample(scratch, thread, counters);
	if (measures_itself)
		counters->bpf_ns += bpf_ktime_get_ns() - scratch->now_ns;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
