/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timer's program: whose tick it is, in which circumstances, and which walker takes it. */
#include "maps.bpf.h"
#include "identity.bpf.h"
#include "machine.bpf.h"

#define PF_EXITING 0x00000004 /* linux/sched.h, all releases */

/* Frames that a sample may have; user space sets it. */
const volatile __u32 max_depth = 512;

/* Timers that each thread has, which share its samples among them; user space sets it. */
const volatile __u32 timer_count = 1;

__u32 namespace_level;
__u64 namespace_address;

/*
 * The registers that the thread had in user space, wherever it was interrupted. The general ones
 * come first in struct pt_regs on both architectures.
 */
static __always_inline int copy_registers(struct ls_scratch *scratch, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!regs || bpf_probe_read_kernel(scratch->registers, LS_REGISTER_COUNT * 8, regs))
		return 1;
	scratch->register_count = LS_REGISTER_COUNT;
	scratch->pc = LS_PC(regs);
	scratch->sp = (regs->sp + 7) & ~7ULL;
	return 0;
}

static __always_inline void begin_sample(struct ls_scratch *scratch, struct task_struct *task,
					 __u32 tgid, __u32 tid, __u32 period_ns)
{
	struct ls_sample *sample = &scratch->sample;

	scratch->now_ns = bpf_ktime_get_ns();
	scratch->tgid = tgid;
	scratch->frame_room = max_depth;
	scratch->search.chunks_read = 0;
	scratch->search.is_beyond = 0;
	sample->type = LS_RECORD_SAMPLE;
	sample->tgid = tgid;
	sample->tid = tid;
	sample->time_ns = scratch->now_ns;
	sample->runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	bpf_get_current_comm(sample->comm, sizeof(sample->comm));
	sample->period_ns = period_ns;
	sample->state = 0;
	sample->vm = 0;
	sample->flags = 0;
	sample->frame_count = 0;
	sample->layout = 0;
	sample->verified = 0;
	sample->other_layouts = 0;
	sample->error = copy_registers(scratch, task) ? LS_WALK_REGISTERS : LS_WALK_NONE;
}

/*
 * That the timer has by now. In ctx->sample_period is the one that it began with: a change by ioctl
 * does not reach it where a timer goes by a clock (hw.last_period, perf_swevent_hrtimer() in
 * kernel/events/core.c, Linux 6.18).
 */
static __always_inline __u64 period_of(struct bpf_perf_event_data *ctx)
{
	const struct bpf_perf_event_data_kern *kernel = (const void *)ctx;
	__u64 period_ns = BPF_CORE_READ(kernel, event, hw.sample_period);

	return period_ns ? period_ns : ctx->sample_period;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid, tgid = current_ids(&tid);
	__u32 *image = bpf_map_lookup_elem(&targets, &tgid);
	struct ls_counters *counters = counters_here();
	struct ls_scratch *scratch = scratch_here();
	struct ls_target *target;
	__u32 period_ns;

	if (!image || !counters || !scratch)
		return 0;
	scratch->image = *image;
	target = bpf_map_lookup_elem(&images, &scratch->image);
	if (!target)
		return 0;
	/* Its end has been told, or is about to be, with its time; the timer outlives that. */
	if (BPF_CORE_READ(task, flags) & PF_EXITING)
		return 0;
	period_ns = period_of(ctx) / timer_count;
	counters->ticks++;
	counters->clocked_ns += period_ns;
	begin_sample(scratch, task, tgid, tid, period_ns);
	scratch->edition = target->edition;
	bpf_tail_call(ctx, &families, target->family);
	counters->dropped++;
	return 0;
}

/* Run once by user space, as itself, before anything is attached. */
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
