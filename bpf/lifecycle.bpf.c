/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Births and ends of threads and processes, and changes of program. Attached by BTF: tracefs is not
 * mounted everywhere. A thread's birth needs no record, its CPU time starts at 0; it is noted for
 * the sake of the moment at which the timers are attached.
 */
#include "maps.bpf.h"
#include "send.bpf.h"
#include "identity.bpf.h"
#include <bpf/bpf_tracing.h>

/* Children of targets are targets; user space sets it. */
const volatile __u32 follows_children = 0;

/* With their timers; else it has to see to them at once. */
const volatile __u32 inherits_timers = 1;

/* Samples may fill the buffer. A process whose end is not told would be sampled for good. */
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

/* The reader is to look at once: nothing of the new program is known until it has. */
static __always_inline void send_urgent_event(void *record, __u32 size)
{
	if (bpf_ringbuf_output(&records, record, size, BPF_RB_FORCE_WAKEUP))
		keep_event(record, size);
}

/*
 * It goes on in a copy of its parent's memory: what is known of that holds for it. 0: it is not
 * followed.
 */
static __always_inline int follow_child(struct task_struct *child, __u32 tgid, __u32 parent_tgid)
{
	__u32 *parent = bpf_map_lookup_elem(&targets, &parent_tgid);
	struct ls_fork record = {.type = LS_RECORD_FORK, .tgid = tgid, .parent_tgid = parent_tgid};
	struct ls_counters *counters = counters_here();

	if (!follows_children || !parent || !tgid)
		return 0;
	if (bpf_map_update_elem(&targets, &tgid, parent, BPF_ANY)) {
		if (counters)
			counters->records_lost++;
		return 0;
	}
	record.time_ns = bpf_ktime_get_ns();
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), child->comm);
	if (inherits_timers)
		send_event(&record, sizeof(record));
	else
		send_urgent_event(&record, sizeof(record));
	return 1;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(thread_is_born, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = id_of(BPF_CORE_READ(child, group_leader));
	__u32 tid = id_of(child);
	struct ls_birth birth = {};

	if (tgid == tid) {
		if (!follow_child(child, tgid, id_of(BPF_CORE_READ(parent, group_leader))) ||
		    !inherits_timers)
			return 0;
	} else if (!bpf_map_lookup_elem(&targets, &tgid)) {
		return 0;
	}
	birth.time_ns = bpf_ktime_get_ns();
	birth.parent_tid = id_of(parent);
	bpf_map_update_elem(&births, &tid, &birth, BPF_ANY);
	return 0;
}

/* Of one that ended before user space came to look at it, this is all that is known. */
static __always_inline void note_end(struct task_struct *task, __u32 tgid)
{
	struct ls_execution *execution = bpf_map_lookup_elem(&executions, &tgid);

	if (execution && !BPF_CORE_READ(task, signal, live.counter))
		execution->ended_ns = BPF_CORE_READ(task, se.sum_exec_runtime) +
				      BPF_CORE_READ(task, signal, sum_sched_runtime);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exits, struct task_struct *task)
{
	__u32 tgid = id_of(BPF_CORE_READ(task, group_leader));
	struct ls_thread_exit record = {.type = LS_RECORD_THREAD_EXIT, .tgid = tgid};

	if (!inherits_timers)
		note_end(task, tgid);
	if (!bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	record.tid = id_of(task);
	record.is_last = BPF_CORE_READ(task, signal, live.counter) == 0;
	record.time_ns = bpf_ktime_get_ns();
	record.runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	send_event(&record, sizeof(record));
	bpf_map_delete_elem(&threads, &record.tid);
	return 0;
}

/* However late user space finds out that it is to be sampled: what came before is known then. */
static __always_inline void note_execution(struct task_struct *task, __u32 tgid)
{
	const struct ls_execution *last = bpf_map_lookup_elem(&executions, &tgid);
	struct ls_execution execution = {
		.time_ns = bpf_ktime_get_ns(),
		.runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime) +
			      BPF_CORE_READ(task, signal, sum_sched_runtime),
		.stack_start = BPF_CORE_READ(task, mm, start_stack),
	};

	if (last && !last->ended_ns)
		execution.counted_ns = last->counted_ns;
	bpf_probe_read_kernel_str(execution.comm, sizeof(execution.comm), task->comm);
	bpf_map_update_elem(&executions, &tgid, &execution, BPF_ANY);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_execs, struct task_struct *task)
{
	__u32 tgid = id_of(BPF_CORE_READ(task, group_leader));
	struct ls_exec record = {.type = LS_RECORD_EXEC, .tgid = tgid};
	__u32 *image = bpf_map_lookup_elem(&targets, &tgid);

	if (!inherits_timers)
		note_execution(task, tgid);
	if (!image)
		return 0;
	/* Nothing fits the new program until user space has looked at it. */
	*image = LS_IMAGE_NONE;
	record.time_ns = bpf_ktime_get_ns();
	record.runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	send_urgent_event(&record, sizeof(record));
	bpf_map_delete_elem(&threads, &tgid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
