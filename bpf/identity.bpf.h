/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Process and thread ids as luaspy sees them: those of its own PID namespace. */
#ifndef LS_IDENTITY_BPF_H
#define LS_IDENTITY_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* How deep that namespace lies; 0 is the host's. Set by learn_namespace (sampler.bpf.c). */
extern __u32 namespace_level;

/* 0: the task has no id there, it lives outside. */
static __always_inline __u32 id_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = namespace_level;

	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	return BPF_CORE_READ(pid, numbers[level].nr);
}

#endif
