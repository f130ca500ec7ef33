/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Creation and exit of threads and processes, and exec(). The programs attach by BTF because
 * tracefs is not mounted everywhere. The creation of a thread needs no record, since its CPU time
 * starts at 0; it is only noted for user space, in case it is attaching timers at that moment.
 */
#include "cpu_time.bpf.h"
#include "maps.bpf.h"
#include "send.bpf.h"
#include "pid_namespace.bpf.h"
#include <bpf/bpf_tracing.h>

/* 1: children of targets are targets; user space sets it. */
const volatile __u32 follows_children = 0;

/* 1: children inherit the parent's timers. 0: user space must attach them, so wake it. */
const volatile __u32 inherits_timers = 1;

/* See sampler.bpf.c. */
extern __u64 young_ns;
extern __u64 young_ends;

/* Samples may fill the ring buffer. A process whose exit is lost would stay a target for good. */
static __always_inline void keep_event(const void *record, __u32 size)
{
	struct ls_counters *counters = counters_here();
	union ls_event event = {};

	__builtin_memcpy(&event, record, size);
	if (bpf_map_push_elem(&events, &event, 0) && counters)
		counters->records_lost++;
}

static __always_inline void send_event(void *record, __u32 size)
{
	if (send_record(record, size))
		keep_event(record, size);
}

/* Wakes the reader immediately: nothing is known about the new program until it has looked. */
static __always_inline void send_urgent_event(void *record, __u32 size)
{
	if (bpf_ringbuf_output(&records, record, size, BPF_RB_FORCE_WAKEUP))
		keep_event(record, size);
}

/*
 * The child continues in a copy of its parent's memory, so the parent's image applies to it.
 * Returns false if the child is not followed.
 */
static __always_inline bool follow_child(struct task_struct *child, __u32 tgid, __u32 parent_tgid)
{
	__u32 *parent = bpf_map_lookup_elem(&targets, &parent_tgid);
	struct ls_fork record = {.type = LS_RECORD_FORK, .tgid = tgid, .parent_tgid = parent_tgid};
	struct ls_counters *counters = counters_here();

	if (!follows_children || !parent || !tgid)
		return false;
	if (bpf_map_update_elem(&targets, &tgid, parent, BPF_ANY)) {
		if (counters)
			counters->records_lost++;
		return false;
	}
	record.time_ns = bpf_ktime_get_ns();
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), child->comm);
	if (inherits_timers)
		send_event(&record, sizeof(record));
	else
		send_urgent_event(&record, sizeof(record));
	return true;
}

/*
 * Nobody has looked at the parent's program yet. If it turns out to be one to sample, so is the
 * child, which may have ended by then.
 */
static __always_inline void note_fork(struct task_struct *child, __u32 tgid, __u32 parent_tgid)
{
	struct ls_execution *parent = bpf_map_lookup_elem(&executions, &parent_tgid);
	struct ls_execution execution = {.parent_tgid = parent_tgid};

	if (!parent || parent->ended_ns || !tgid)
		return;
	execution.program = parent->program;
	execution.program.time_ns = bpf_ktime_get_ns();
	execution.program.runtime_ns = 0;
	execution.program.youngest_child = 0;
	execution.older_sibling = parent->program.youngest_child;
	bpf_probe_read_kernel_str(execution.program.comm, sizeof(execution.program.comm),
				  child->comm);
	if (!bpf_map_update_elem(&executions, &tgid, &execution, BPF_ANY))
		parent->program.youngest_child = tgid;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(thread_is_born, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = id_of(BPF_CORE_READ(child, group_leader));
	__u32 tid = id_of(child);
	__u32 parent_tgid = id_of(BPF_CORE_READ(parent, group_leader));
	struct ls_birth birth = {};
	bool is_followed;

	if (tgid == tid) {
		is_followed = follow_child(child, tgid, parent_tgid);
		if (!is_followed && !inherits_timers)
			note_fork(child, tgid, parent_tgid);
		if (!is_followed || !inherits_timers)
			return 0;
	} else if (!bpf_map_lookup_elem(&targets, &tgid)) {
		return 0;
	}
	birth.time_ns = bpf_ktime_get_ns();
	birth.parent_tid = id_of(parent);
	bpf_map_update_elem(&births, &tid, &birth, BPF_ANY);
	return 0;
}

/* For a process that ends before user space has examined it, this is all that is known. */
static __always_inline void note_end(struct task_struct *task, __u32 tgid)
{
	struct ls_execution *execution = bpf_map_lookup_elem(&executions, &tgid);

	if (execution && !BPF_CORE_READ(task, signal, live.counter))
		execution->ended_ns = cpu_time_of(task, bpf_ktime_get_ns()) +
				      BPF_CORE_READ(task, signal, sum_sched_runtime);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exits, struct task_struct *task)
{
	__u32 tgid = id_of(BPF_CORE_READ(task, group_leader));
	struct ls_thread_exit record = {.type = LS_RECORD_THREAD_EXIT, .tgid = tgid};
	__u64 address = (__u64)task;

	if (!inherits_timers)
		note_end(task, tgid);
	if (!bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	record.tid = id_of(task);
	record.is_last = BPF_CORE_READ(task, signal, live.counter) == 0;
	record.time_ns = bpf_ktime_get_ns();
	record.runtime_ns = cpu_time_of(task, record.time_ns);
	if (record.runtime_ns < young_ns)
		__sync_fetch_and_add(&young_ends, 1);
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	record.rest_follows = !bpf_map_update_elem(&exits, &address, &record, BPF_ANY);
	send_event(&record, sizeof(record));
	bpf_map_delete_elem(&threads, &record.tid);
	return 0;
}

/*
 * Since its exit the thread has run in the kernel, to release its memory and files. Now it has been
 * switched out for the last time, so its CPU time is complete; it no longer has an id.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(thread_is_gone, struct task_struct *task)
{
	__u64 address = (__u64)task, runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	const struct ls_thread_exit *exit = bpf_map_lookup_elem(&exits, &address);
	struct ls_thread_exit record;

	if (!exit)
		return 0;
	record = *exit;
	record.type = LS_RECORD_THREAD_REST;
	record.runtime_ns = runtime_ns > exit->runtime_ns ? runtime_ns - exit->runtime_ns : 0;
	send_event(&record, sizeof(record));
	bpf_map_delete_elem(&exits, &address);
	return 0;
}

static __always_inline void describe_program(struct task_struct *task, struct ls_program *program)
{
	program->time_ns = bpf_ktime_get_ns();
	program->runtime_ns = cpu_time_of(task, program->time_ns) +
			      BPF_CORE_READ(task, signal, sum_sched_runtime);
	program->stack_start = BPF_CORE_READ(task, mm, start_stack);
	program->code_start = BPF_CORE_READ(task, mm, start_code);
	bpf_probe_read_kernel_str(program->comm, sizeof(program->comm), task->comm);
}

/* However late user space decides to sample the process, the time before exec() is known then. */
static __always_inline void note_execution(struct task_struct *task, __u32 tgid, bool was_target)
{
	const struct ls_execution *last = bpf_map_lookup_elem(&executions, &tgid);
	struct ls_execution execution = {};

	if (last && !last->ended_ns) {
		execution.counted_ns = last->counted_ns;
		execution.parent_tgid = last->parent_tgid;
		execution.older_sibling = last->older_sibling;
		if (!was_target)
			execution.previous = last->program;
	}
	describe_program(task, &execution.program);
	bpf_map_update_elem(&executions, &tgid, &execution, BPF_ANY);
}

/* Up to Linux 6.1: one context for hardware events and one for software events. */
struct task_struct___two_contexts {
	struct perf_event_context *perf_event_ctxp[2];
} __attribute__((preserve_access_index));

/*
 * If a program runs with other privileges than the user who executes it, or is not readable to that
 * user, the kernel removes all perf events of the process (begin_new_exec() in fs/exec.c, all
 * releases).
 */
static __always_inline bool has_lost_timers(struct task_struct *task)
{
	struct task_struct___two_contexts *older = (void *)task;

	if (bpf_core_field_exists(task->perf_event_ctxp))
		return !BPF_CORE_READ(task, perf_event_ctxp);
	if (bpf_core_field_exists(older->perf_event_ctxp))
		return !BPF_CORE_READ(older, perf_event_ctxp[0]) &&
		       !BPF_CORE_READ(older, perf_event_ctxp[1]);
	return false;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_execs, struct task_struct *task)
{
	__u32 tgid = id_of(BPF_CORE_READ(task, group_leader));
	struct ls_exec record = {.type = LS_RECORD_EXEC, .tgid = tgid};
	__u32 *image = bpf_map_lookup_elem(&targets, &tgid);

	if (!inherits_timers)
		note_execution(task, tgid, image != NULL);
	if (!image)
		return 0;
	/* No image fits the new program until user space has examined it. */
	*image = LS_IMAGE_NONE;
	record.time_ns = bpf_ktime_get_ns();
	record.runtime_ns = cpu_time_of(task, record.time_ns);
	record.lost_timers = has_lost_timers(task);
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	send_urgent_event(&record, sizeof(record));
	bpf_map_delete_elem(&threads, &tgid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
