/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which thread runs a VM that its host calls without protection, in a process of several threads.
 *
 * A call that has returned leaves its words on the native stack, and the frame of a later function
 * may cover them without writing to them. So a thread that has given the VM to another one may have
 * all that the stack of the other one has. But a register that calls preserve holds such a word
 * only as long as luaV_execute, or a function called by it that has no other use for that register,
 * is running: that is proof. Words on the stack suffice only while no other thread is known to hold
 * the VM. A thread that waits for its turn has a pointer to the VM on its stack, so it is known to
 * hold it as soon as it is sampled; one that sleeps is not sampled, so the first samples after a VM
 * was handed over for the first time may show its calls on the thread that gave it away.
 */
#ifndef LS_VM_THREAD_PUC_BPF_H
#define LS_VM_THREAD_PUC_BPF_H

#include "scratch_puc.bpf.h"

#ifdef __bpf__

#include <bpf/bpf_core_read.h>

struct ls_vm {
	__u64 main_thread;
	__u32 tgid;
	__u32 padding;
};

struct ls_vm_thread {
	__u32 tid;       /* of the first thread that was seen to hold the VM */
	__u32 is_shared; /* 1: another one was, too */
};

/* A cache: the threads of an evicted VM must be seen again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct ls_vm);
	__type(value, struct ls_vm_thread);
} vm_threads SEC(".maps");

static __always_inline int has_other_threads(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), signal, live.counter) > 1;
}

/* Notes that this thread holds the VM. */
static __always_inline void note_vm_thread(const struct ls_scratch *scratch, __u64 main_thread)
{
	struct ls_vm vm = {.main_thread = main_thread, .tgid = scratch->tgid};
	struct ls_vm_thread *known = bpf_map_lookup_elem(&vm_threads, &vm);
	struct ls_vm_thread first = {.tid = scratch->sample.tid};

	if (!known)
		bpf_map_update_elem(&vm_threads, &vm, &first, BPF_ANY);
	else if (known->tid != first.tid)
		known->is_shared = 1;
}

/* Whether no other thread is known to hold the VM. */
static __always_inline int is_only_vm_thread(const struct ls_scratch *scratch, __u64 main_thread)
{
	struct ls_vm vm = {.main_thread = main_thread, .tgid = scratch->tgid};
	const struct ls_vm_thread *known = bpf_map_lookup_elem(&vm_threads, &vm);

	return !known || (known->tid == scratch->sample.tid && !known->is_shared);
}

#else

/* Outside the kernel there is one sample, so nothing is known from others. */
static __always_inline int has_other_threads(void)
{
	return bpf_shim__has_other_threads();
}

static __always_inline void note_vm_thread(const struct ls_scratch *scratch, __u64 main_thread)
{
	(void)scratch;
	(void)main_thread;
}

static __always_inline int is_only_vm_thread(const struct ls_scratch *scratch, __u64 main_thread)
{
	(void)scratch;
	(void)main_thread;
	return 0;
}

#endif

/*
 * Whether the thread runs the VM with that main thread, whose address it has.
 * `has_words`: words of the running call are in registers or on the stack.
 * `is_in_register`: one of them is in a register that calls preserve.
 * `is_own_stack`: what is on the stack is this thread's.
 */
static __always_inline int is_vm_of_this_thread(const struct ls_scratch *scratch, __u64 main_thread,
						int has_words, int is_in_register, int is_own_stack)
{
	if (!has_other_threads())
		return has_words;
	if (is_in_register || is_own_stack)
		note_vm_thread(scratch, main_thread);
	return is_in_register || (has_words && is_only_vm_thread(scratch, main_thread));
}

#endif
