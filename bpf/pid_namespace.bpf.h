/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Process and thread ids as luaspy sees them: those of its own PID namespace. */
#ifndef LS_PID_NAMESPACE_BPF_H
#define LS_PID_NAMESPACE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* Level of that namespace; 0: the initial one. Set by learn_namespace (sampler.bpf.c). */
extern __u32 namespace_level;

/* Kernel address of that namespace: others at the same level reuse ids. */
extern __u64 namespace_address;

/* Returns the id of the task there, or 0: it has none, because it is outside of the namespace. */
static __always_inline __u32 id_of(struct task_struct *task)
{
	__u32 level = namespace_level;
	struct pid *pid;

	if (!level)
		return BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	if ((__u64)BPF_CORE_READ(pid, numbers[level].ns) != namespace_address)
		return 0;
	return BPF_CORE_READ(pid, numbers[level].nr);
}

/* Returns the process id of the current task, and its thread id in *tid. */
static __always_inline __u32 current_ids(__u32 *tid)
{
	__u64 ids = bpf_get_current_pid_tgid();
	struct task_struct *task;

	if (!namespace_level) {
		*tid = ids;
		return ids >> 32;
	}
	task = bpf_get_current_task_btf();
	*tid = id_of(task);
	return id_of(BPF_CORE_READ(task, group_leader));
}

#endif
