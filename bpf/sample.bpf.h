/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every walker's sample has in common: where it was taken, and how it is sent. */
#ifndef LS_SAMPLE_BPF_H
#define LS_SAMPLE_BPF_H

#include <bpf/bpf_core_read.h>

#include "find_mapping.bpf.h"
#include "maps.bpf.h"
#include "send.bpf.h"

/* 256: whatever a byte holds is an index. */
#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const __u8 class_of_error[256] = {LS_WALK_ERRORS(X)};
#undef X

/*
 * What of the mapping that SP is in can be the thread's stack, and whether that is its own: the one
 * that the kernel started the process on, or that of a pthread, at whose end the C libraries lay
 * the thread's control block. Those of threads that a program provides stacks for may lie in the
 * heap among others. The main thread's block is no sign: it lies among all kinds of mappings.
 */
static __always_inline void judge_bounds(struct task_struct *task, __u64 sp,
					 const struct ls_bounds *bounds, struct ls_thread *thread)
{
	__u64 start = BPF_CORE_READ(task, mm, start_stack);
	__u64 heap = BPF_CORE_READ(task, mm, start_brk), heap_end = BPF_CORE_READ(task, mm, brk);
#ifdef __TARGET_ARCH_arm64
	__u64 block = BPF_CORE_READ(task, thread.uw.tp_value);
#else
	__u64 block = BPF_CORE_READ(task, thread.fsbase);
#endif

	thread->stack_low = bounds->low;
	thread->stack_high = bounds->high;
	thread->own_stack = start >= bounds->low && start < bounds->high;
	if (block < bounds->low || block >= bounds->high)
		return;
	if (sp >= block) {
		thread->stack_low = block;
		return;
	}
	thread->stack_high = block;
	if (BPF_CORE_READ(task, group_leader) != task &&
	    (bounds->high <= heap || bounds->low >= heap_end))
		thread->own_stack = 1;
}

/* Verified once, for both its callers. 0, or 1: the kernel does not say where the stack ends. */
__noinline int look_up_bounds(struct ls_scratch *scratch, struct ls_thread *thread)
{
	struct ls_bounds bounds = {};

	if (!scratch || !thread || find_mapping(scratch, scratch->sp, &bounds))
		return 1;
	judge_bounds(bpf_get_current_task_btf(), scratch->sp, &bounds, thread);
	thread->bounds_ns = scratch->now_ns;
	return 0;
}

/*
 * Keeps thread->stack_low and stack_high, looking them up only when SP has left them: that costs
 * 0.3 us, and 5.6 us where only bpf_find_vma() can tell.
 */
static __always_inline int find_stack_bounds(struct ls_scratch *scratch, struct ls_thread *thread)
{
	if (scratch->sp >= thread->stack_low && scratch->sp < thread->stack_high)
		return 0;
	thread->chain_count = 0;
	return look_up_bounds(scratch, thread);
}

/* How often a mapping is looked up again that may have grown. */
#define LS_BOUNDS_NS 1000000

/*
 * The heap grows, and mappings grow together: 1 if this sample came to an end of its stack that is
 * none any more; the next one knows better. A thread's own stack has a fixed end.
 */
static __always_inline int has_stack_grown(struct ls_scratch *scratch, struct ls_thread *thread)
{
	__u64 high = thread->stack_high;

	if (!scratch->search.is_beyond || thread->own_stack ||
	    scratch->now_ns - thread->bounds_ns < LS_BOUNDS_NS)
		return 0;
	return !look_up_bounds(scratch, thread) && thread->stack_high > high;
}

/*
 * A sample's CPU time is behind by up to a tick of the scheduler's: what has passed since it moved
 * last, the thread has run. What others do to the memory of a process they do slowly, or with it
 * stopped.
 */
static __always_inline void read_own_clock(struct ls_scratch *scratch, struct ls_thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 runtime_ns = scratch->sample.runtime_ns;

	if (thread->runtime_ns != runtime_ns) {
		thread->runtime_ns = runtime_ns;
		thread->runtime_seen_ns = scratch->now_ns;
	}
	scratch->own_ns = BPF_CORE_READ(task, mm, mm_users.counter) == 1
				  ? runtime_ns + scratch->now_ns - thread->runtime_seen_ns
				  : 0;
}

/* The cache entry of the sampled thread, with its stack's bounds; NULL: no room at all. */
static __always_inline struct ls_thread *thread_here(struct ls_scratch *scratch)
{
	static const struct ls_thread fresh;
	__u32 tid = scratch->sample.tid;
	struct ls_thread *thread = bpf_map_lookup_elem(&threads, &tid);

	if (!thread) {
		bpf_map_update_elem(&threads, &tid, &fresh, BPF_NOEXIST);
		thread = bpf_map_lookup_elem(&threads, &tid);
	}
	if (thread)
		read_own_clock(scratch, thread);
	if (thread && !scratch->sample.error && find_stack_bounds(scratch, thread))
		scratch->sample.error = LS_WALK_STACK_BOUNDS;
	return thread;
}

static __always_inline void send_sample(struct ls_scratch *scratch, struct ls_thread *thread,
					struct ls_counters *counters)
{
	struct ls_sample *sample = &scratch->sample;
	__u32 count;

	if (!sample->error && !sample->frame_count)
		sample->error = LS_WALK_NO_SCRIPT;
	sample->class = class_of_error[sample->error];
	if (sample->class == LS_SAMPLE_HOST || sample->class == LS_SAMPLE_UNREADABLE)
		sample->frame_count = 0;
	count = sample->frame_count;
	if (count > LS_DEPTH_MAX)
		return;
	sample->dropped_before = thread->dropped;
	if (send_record(sample, sizeof(*sample) + count * sizeof(struct ls_frame))) {
		thread->dropped++;
		counters->dropped++;
	} else {
		thread->dropped = 0;
	}
}

#endif
