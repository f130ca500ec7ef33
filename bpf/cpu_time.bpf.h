/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPU time of the running thread, up to the present moment.
 *
 * The scheduler updates se.sum_exec_runtime only at its ticks and context switches, so that value
 * lags by up to a tick: 4 ms at 250 Hz, which may be all that a short-lived thread ever ran. What
 * is missing is the time since se.exec_start on the run queue's clock, which itself stands still
 * between two updates (update_rq_clock() and update_curr(), kernel/sched, all releases). The
 * present value of that clock follows from bpf_ktime_get_ns() and the lead of one over the other.
 * No helper reads the scheduler's clock, but perf uses the same clock and stores its reading when a
 * timer ticks.
 *
 * Time that interrupts or a hypervisor took since the last update is counted as the thread's until
 * the next update, so a later value may be lower.
 */
#ifndef LS_CPU_TIME_BPF_H
#define LS_CPU_TIME_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Lead of the scheduler's clock over bpf_ktime_get_ns(), and when found; see sampler.bpf.c. */
extern __s64 clock_lead_ns;
extern __u64 clock_lead_found_ns;

/*
 * NTP slews bpf_ktime_get_ns() by 0.05% at most: 5 us in LS_LEAD_FRESH_NS, 0.5 ms in
 * LS_LEAD_VALID_NS.
 */
#define LS_LEAD_FRESH_NS 10000000ULL
#define LS_LEAD_VALID_NS 1000000000ULL

/* With CONFIG_NO_HZ_FULL a CPU's clock is updated once per second. More than that is no lag. */
#define LS_LAG_MAX_NS 2000000000ULL

/*
 * Call this at a tick of a task-clock event: task_clock_event_read() in kernel/events/core.c, which
 * runs just before the event's program, has stored the reading of the clock in hw.prev_count, as
 * time of the event's context.
 */
static __always_inline void find_clock_lead(struct perf_event *event, __u64 now_ns)
{
	struct perf_event_context *context = NULL;

	if (now_ns - clock_lead_found_ns < LS_LEAD_FRESH_NS ||
	    !bpf_core_field_exists(context->timestamp))
		return;
	context = BPF_CORE_READ(event, ctx);
	clock_lead_ns = BPF_CORE_READ(event, hw.prev_count.a.a.counter) -
			BPF_CORE_READ(context, time) + BPF_CORE_READ(context, timestamp) - now_ns;
	clock_lead_found_ns = now_ns;
}

/* Valid for the current task only. `now_ns` is bpf_ktime_get_ns(). */
static __always_inline __u64 cpu_time_of(struct task_struct *task, __u64 now_ns)
{
	__u64 start_ns = task->se.exec_start, charged_ns = task->se.sum_exec_runtime, since_ns;
	struct rq *rq;

	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    now_ns - clock_lead_found_ns > LS_LEAD_VALID_NS)
		return charged_ns;
	rq = task->se.cfs_rq->rq;
	since_ns = rq->clock_task - start_ns + now_ns + clock_lead_ns - rq->clock;
	/* Another CPU has just updated both. */
	if (*(volatile __u64 *)&task->se.exec_start != start_ns)
		return *(volatile __u64 *)&task->se.sum_exec_runtime;
	return since_ns < LS_LAG_MAX_NS ? charged_ns + since_ns : charged_ns;
}

#endif
