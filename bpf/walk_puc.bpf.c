/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that takes a sample of PUC Lua; called by sampler.bpf.c. */
#include "maps.bpf.h"
#include "send.bpf.h"

/* 0, or an error: the definition found no room. */
static __always_inline long send_definition(struct ls_function *function)
{
	struct ls_counters *counters = counters_here();
	long error = send_record(function, sizeof(*function));

	if (counters) {
		counters->definitions++;
		counters->records_lost += !!error;
	}
	return error;
}

#include "walk_puc.bpf.h"
#include "sample.bpf.h"

struct ls_attempt {
	struct ls_scratch *scratch;
	struct ls_thread *thread;
	__u32 layouts; /* bit per layout to try */
	__u32 fits;    /* bit per layout that did */
	__u32 first;   /* of those */
};

/* One candidate; the round after the last takes the first that fitted once more, for the record. */
static long try_layout(__u32 i, void *context)
{
	struct ls_attempt *attempt = context;
	struct ls_puc_layout *layout;
	__u32 index = i;

	if (i >= LS_LAYOUT_MAX) {
		if (!attempt->fits)
			return 1;
		index = attempt->first;
	} else if (!(attempt->layouts & (1U << (i & 31)))) {
		return 0;
	}
	layout = bpf_map_lookup_elem(&layouts, &index);
	if (!layout)
		return 1;
	attempt->scratch->sample.layout = index;
	if (take_stack_puc(attempt->scratch, layout, attempt->thread)) {
		if (!attempt->fits)
			attempt->first = index;
		attempt->fits |= 1U << (index & 31);
	}
	return 0;
}

static __always_inline void take_stack(struct ls_scratch *scratch, struct ls_thread *thread,
				       const struct ls_target *target)
{
	struct ls_attempt attempt = {
		.scratch = scratch, .thread = thread, .layouts = target->layouts};
	struct ls_sample *sample = &scratch->sample;

	for (__u32 i = 0; i < LS_CODE_RANGES; i++)
		scratch->search.barren[LS_BARREN_RANGES - LS_CODE_RANGES + i] = target->code[i];
	/* A chain that was found under one layout means nothing under another. */
	if (!target->decided) {
		thread->chain_count = 0;
		thread->root.state = 0;
	}
	repeat(target->decided ? LS_LAYOUT_MAX : LS_LAYOUT_MAX + 1, try_layout, &attempt);
	sample->verified = !!attempt.fits;
	sample->other_layouts = attempt.fits & ~(1U << (sample->layout & 31));
	if (!target->decided && !attempt.fits) {
		sample->frame_count = 0;
		if (sample->error != LS_WALK_NO_SCRIPT)
			sample->error = LS_WALK_UNDECIDED;
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
	target = bpf_map_lookup_elem(&targets, &scratch->tgid);
	thread = thread_here(scratch, counters);
	if (!target || !thread)
		return 0;
	if (!scratch->sample.error)
		take_stack(scratch, thread, target);
	counters->chunks += scratch->search.chunks_read;
	counters->scans += !!scratch->search.chunks_read;
	send_sample(scratch, thread, counters);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
