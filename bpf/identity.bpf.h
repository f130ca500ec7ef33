/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Process and thread ids as luaspy sees them: those of its own PID namespace. */
#ifndef LS_IDENTITY_BPF_H
#define LS_IDENTITY_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* How deep that namespace lies; 0 is the host's. Set by learn_namespace (sampler.bpf.c). */
extern __u32 namespace_level;

/* Which of those that lie so deep: others have the same ids. Its address in the kernel. */
extern __u64 namespace_address;

/* 0: the task has no id there, it lives outside. */
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

/* Of the task that runs: its process, and itself in *tid. */
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
