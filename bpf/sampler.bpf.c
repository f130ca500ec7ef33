/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timers' programs: find out which thread was interrupted, and call its process's walkers.
 *
 * A thread's own timers first tick after a whole period of its CPU time. That is always the same
 * place in threads that do the same, and too late for those that are shorter. While young threads
 * keep ending, timers of the processors sample the young ones instead: they are at any point of
 * their period when a thread begins.
 */
#include "cpu_time.bpf.h"
#include "hand_over.bpf.h"
#include "maps.bpf.h"
#include "pid_namespace.bpf.h"

#define PF_EXITING 0x00000004 /* linux/sched.h, all releases */

/* Maximum number of frames of a sample; user space sets it. */
const volatile __u32 max_depth = 512;

/* Timers per thread, which take its samples in turn; user space sets it. */
const volatile __u32 timer_count = 1;

/* 1: read the clock once more per sample, for ls_counters.bpf_ns; user space sets it. */
const volatile __u32 measures_itself;

/* CPU time up to which a thread is young; user space sets it. */
__u64 young_ns;

/* Threads that have ended while they were young. */
__u64 young_ends;

/* Whose timers sample threads that are young: enum ls_young; user space sets it. */
__u32 young_sampling;

__u32 namespace_level;
__u64 namespace_address;

__s64 clock_lead_ns;
__u64 clock_lead_found_ns;

/*
 * The timer's current period. ctx->sample_period is the one it began with: a change by ioctl does
 * not reach it if the timer is a clock event (hw.last_period, perf_swevent_hrtimer() in
 * kernel/events/core.c, Linux 6.18).
 */
static __always_inline __u64 period_of(struct bpf_perf_event_data *ctx, struct perf_event *event)
{
	__u64 period_ns = BPF_CORE_READ(event, hw.sample_period);

	return period_ns ? period_ns : ctx->sample_period;
}

/* Whether other timers sample the thread at its age. `is_own`: this one is the thread's own. */
static __always_inline bool is_left_to_others(const struct ls_tick *tick, bool is_own)
{
	bool is_young = tick->runtime_ns < young_ns;

	return is_own ? is_young && young_sampling == LS_YOUNG_BY_PROCESSORS
		      : !is_young || young_sampling == LS_YOUNG_BY_OWN;
}

static __always_inline int take_sample(struct bpf_perf_event_data *ctx, bool is_own)
{
	const struct bpf_perf_event_data_kern *kernel = (const void *)ctx;
	struct perf_event *event = BPF_CORE_READ(kernel, event);
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid, tgid = current_ids(&tid);
	__u32 *image = bpf_map_lookup_elem(&targets, &tgid);
	struct ls_counters *counters = counters_here();
	struct ls_tick *tick = tick_here();
	const struct ls_image *known;

	if (!image || !counters || !tick)
		return 0;
	tick->image = *image;
	known = bpf_map_lookup_elem(&images, &tick->image);
	if (!known)
		return 0;
	/* lifecycle.bpf.c has sent its exit and CPU time, or will; the timer outlives that. */
	if (BPF_CORE_READ(task, flags) & PF_EXITING)
		return 0;
	tick->now_ns = bpf_ktime_get_ns();
	tick->period_ns = period_of(ctx, event) / (is_own ? timer_count : 1);
	if (is_own)
		find_clock_lead(event, tick->now_ns);
	tick->runtime_ns = cpu_time_of(task, tick->now_ns);
	if (is_left_to_others(tick, is_own)) {
		counters->spare_ticks++;
		return 0;
	}
	counters->ticks++;
	counters->clocked_ns += tick->period_ns;
	tick->tgid = tgid;
	tick->tid = tid;
	tick->max_depth = max_depth;
	tick->measures_itself = measures_itself;
	begin_hand_over(ctx, tick, known->families);
	counters->dropped++;
	return 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	return take_sample(ctx, true);
}

SEC("perf_event")
int sample_young(struct bpf_perf_event_data *ctx)
{
	return take_sample(ctx, false);
}

/* User space runs this once, in its own task, before it attaches anything. */
SEC("raw_tp")
int learn_namespace(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);

	namespace_level = level;
	namespace_address = (__u64)BPF_CORE_READ(pid, numbers[level].ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
