/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the samples of all walkers share: registers, the thread's stack, sending the record. The
 * includer has defined struct ls_scratch.
 */
#ifndef LS_SAMPLE_BPF_H
#define LS_SAMPLE_BPF_H

#include <bpf/bpf_core_read.h>

#include "find_mapping.bpf.h"
#include "hand_over.bpf.h"
#include "machine.bpf.h"
#include "maps.bpf.h"
#include "send.bpf.h"

/* By CPU; user space sets max_entries. Not a per-CPU map: its values are limited to 32 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_scratch);
} scratches SEC(".maps");

/* What a walker works with during one sample. */
struct ls_sampling {
	struct ls_tick *tick;
	struct ls_scratch *scratch;
	struct ls_thread *thread;
	const struct ls_image *image;
	struct ls_counters *counters;
};

static __always_inline struct ls_scratch *scratch_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

/* 256 entries: any byte is a valid index. */
#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const __u8 class_of_error[256] = {LS_WALK_ERRORS(X)};
#undef X

/*
 * Determines which part of SP's mapping can be the thread's stack, and whether the stack is its
 * own: the one that the kernel started the process on, or that of a pthread, at whose end the C
 * libraries place the thread control block. A stack that a program provides for a thread may be in
 * the heap among others. The main thread's control block proves nothing: it is among all kinds of
 * mappings.
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
	if (thread->own_stack && sp < start)
		thread->stack_high = start; /* arguments and environment follow */
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

/*
 * Returns 0, or 1 if the kernel does not tell where the stack ends. __noinline: verified once for
 * both callers.
 */
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
 * Keeps thread->stack_low and stack_high up to date. Looks them up only when SP has left them: that
 * costs 0.3 us, or 5.6 us if only bpf_find_vma() can tell.
 */
static __always_inline int find_stack_bounds(struct ls_scratch *scratch, struct ls_thread *thread)
{
	if (scratch->sp >= thread->stack_low && scratch->sp < thread->stack_high)
		return 0;
	thread->chain_count = 0;
	return look_up_bounds(scratch, thread);
}

/* A mapping that may have grown is looked up again at most this often. */
#define LS_BOUNDS_NS 1000000

/*
 * The heap grows, and adjacent mappings merge. Whether this sample reached an end of its stack that
 * has moved since. A thread's own stack has a fixed end.
 */
static __always_inline bool has_stack_grown(struct ls_scratch *scratch, struct ls_thread *thread)
{
	__u64 high = thread->stack_high;

	if (!scratch->search.is_beyond || thread->own_stack ||
	    scratch->now_ns - thread->bounds_ns < LS_BOUNDS_NS)
		return false;
	return !look_up_bounds(scratch, thread) && thread->stack_high > high;
}

/* Discards a walk that reached an end of its stack that has moved; the next uses the new end. */
static __always_inline void check_stack_end(struct ls_scratch *scratch, struct ls_thread *thread)
{
	if (!has_stack_grown(scratch, thread))
		return;
	thread->chain_count = 0;
	scratch->sample.frame_count = 0;
	scratch->sample.error = LS_WALK_STACK_BOUNDS;
}

/*
 * A sample's CPU time may lag by up to a scheduler tick: the thread has run since the CPU time last
 * changed. Other processes write to a process's memory slowly, or while it is stopped.
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

/* Returns the sampled thread's cache entry, with its stack's bounds; NULL: the map has no room. */
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

/*
 * Copies the registers that the thread had in user space, even if it was interrupted in the kernel.
 * Returns 0, or 1 if there are none. The general-purpose registers come first in struct pt_regs on
 * both architectures.
 */
static __always_inline int copy_registers(struct ls_scratch *scratch)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!regs || bpf_probe_read_kernel(scratch->registers, LS_REGISTER_COUNT * 8, regs))
		return 1;
	scratch->register_count = LS_REGISTER_COUNT;
	scratch->pc = LS_PC(regs);
	scratch->sp = (regs->sp + 7) & ~7ULL;
	return 0;
}

static __always_inline void describe_tick(const struct ls_tick *tick, struct ls_sample *sample)
{
	sample->type = LS_RECORD_SAMPLE;
	sample->tgid = tick->tgid;
	sample->tid = tick->tid;
	sample->time_ns = tick->now_ns;
	sample->runtime_ns = tick->runtime_ns;
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
	sample->period_ns = tick->period_ns;
	sample->state = 0;
	sample->vm = 0;
	sample->memory_category = 0;
	sample->flags = 0;
	sample->activity = LS_ACTIVITY_NONE;
	sample->frame_count = 0;
	sample->layout = 0;
	sample->verified = 0;
	sample->other_layouts = 0;
}

/*
 * Begins the sample of a walker of that family. Returns 0, or 1 if there is none to take: user
 * space dropped this target since the tick, or `threads` has no room.
 */
static __always_inline int begin_sample(struct ls_sampling *sampling, __u8 family)
{
	struct ls_counters *counters = counters_here();
	struct ls_scratch *scratch = scratch_here();
	struct ls_tick *tick = tick_here();

	if (!counters || !scratch || !tick)
		return 1;
	scratch->now_ns = tick->now_ns;
	scratch->tgid = tick->tgid;
	scratch->image = tick->image;
	scratch->frame_room = tick->max_depth;
	scratch->search.chunks_read = 0;
	scratch->search.is_beyond = 0;
	describe_tick(tick, &scratch->sample);
	scratch->sample.family = family;
	scratch->sample.error = copy_registers(scratch) ? LS_WALK_REGISTERS : LS_WALK_NONE;
	sampling->counters = counters;
	sampling->scratch = scratch;
	sampling->tick = tick;
	sampling->image = bpf_map_lookup_elem(&images, &tick->image);
	sampling->thread = thread_here(scratch);
	if (!sampling->image || !sampling->thread) {
		counters->dropped++;
		return 1;
	}
	scratch->edition = sampling->image->edition;
	return 0;
}

static __always_inline void send_sample(const struct ls_sampling *sampling)
{
	struct ls_sample *sample = &sampling->scratch->sample;
	struct ls_thread *thread = sampling->thread;
	__u32 count;

	sample->class = class_of_error[sample->error];
	if (sample->class == LS_SAMPLE_HOST || sample->class == LS_SAMPLE_UNREADABLE)
		sample->frame_count = 0;
	count = sample->frame_count;
	if (count > LS_DEPTH_MAX)
		return;
	sample->dropped_before = thread->dropped;
	if (send_record(sample, sizeof(*sample) + count * sizeof(struct ls_frame))) {
		thread->dropped++;
		sampling->counters->dropped++;
	} else {
		thread->dropped = 0;
	}
}

/* Ends what begin_sample() began: sends the sample, or lets the next family's walker take it. */
static __always_inline void end_sample(struct bpf_perf_event_data *ctx,
				       const struct ls_sampling *sampling)
{
	struct ls_sample *sample = &sampling->scratch->sample;
	__u32 chunks = sampling->scratch->search.chunks_read;
	struct ls_tick *tick = sampling->tick;

	sampling->counters->chunks += chunks;
	sampling->counters->scans += !!chunks;
	if (!sample->error && !sample->frame_count)
		sample->error = LS_WALK_NO_SCRIPT;
	let_others_look(ctx, tick, sample, sampling->scratch->frames,
			sampling->scratch->chain[0].anchor);
	send_sample(sampling);
	if (tick->measures_itself)
		sampling->counters->bpf_ns += bpf_ktime_get_ns() - tick->now_ns;
}

#endif
