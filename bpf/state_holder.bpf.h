/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which thread runs a state that several threads may hold, if no protected call tells.
 *
 * A call that has returned leaves its words on the native stack, and the frame of a later function
 * may cover them without writing to them. So a thread that has given a state to another one may
 * have all that the stack of the other one has. But a register that calls preserve holds such a
 * word only as long as the VM's loop, or a function called by it that has no other use for that
 * register, is running: that is proof. Words on the stack suffice only while no other thread is
 * known to hold the state, and enough samples would have shown one: of the state, or of a process
 * whose threads have shared none so far. A thread that waits for its turn has a pointer to the
 * state on its stack, so it is known to hold it as soon as it is sampled. One that sleeps is not
 * sampled: the first sample or two after it was given a state that only another one has run so far
 * may show its calls on that other thread.
 */
#ifndef LS_STATE_HOLDER_BPF_H
#define LS_STATE_HOLDER_BPF_H

#include "scratch.bpf.h"

/* Samples after which another thread on a processor has been sampled, too. */
#define LS_OF_STATE_MIN   16
#define LS_OF_PROCESS_MIN 64

#ifdef __bpf__

#include <bpf/bpf_core_read.h>

struct ls_held_state {
	__u64 state; /* 0: any of the process */
	__u32 tgid;
	__u32 padding;
};

struct ls_state_holder {
	__u32 tid;       /* of the first thread that was seen to hold the state */
	__u32 samples;   /* that show who holds it */
	__u32 is_shared; /* 1: another one was seen to hold it, too */
};

/* A cache: the holders of an evicted state must be seen again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct ls_held_state);
	__type(value, struct ls_state_holder);
} state_holders SEC(".maps");

static __always_inline bool has_other_threads(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), signal, live.counter) > 1;
}

/* Returns what is known of the state, 0: of all states of the process. NULL: there is no room. */
static __always_inline struct ls_state_holder *holder_of(const struct ls_scratch *scratch,
							 __u64 state)
{
	struct ls_held_state held = {.state = state, .tgid = scratch->tgid};
	struct ls_state_holder first = {.tid = scratch->sample.tid};
	struct ls_state_holder *known = bpf_map_lookup_elem(&state_holders, &held);

	if (known)
		return known;
	bpf_map_update_elem(&state_holders, &held, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&state_holders, &held);
}

/*
 * Notes that this thread holds the state; `is_own`: for certain. Returns whether it is the only one
 * that does, as far as is known.
 */
static __always_inline int note_holder_of(const struct ls_scratch *scratch, __u64 state, int is_own)
{
	struct ls_state_holder *process = holder_of(scratch, 0),
			       *holder = holder_of(scratch, state);

	if (!process || !holder)
		return 0;
	if (is_own && holder->tid != scratch->sample.tid) {
		holder->is_shared = 1;
		process->is_shared = 1;
	}
	/* A sample is walked by all layouts that are in question. */
	if (!scratch->is_undecided) {
		process->samples += process->samples < LS_OF_PROCESS_MIN;
		holder->samples += is_own && holder->samples < LS_OF_STATE_MIN;
	}
	return holder->tid == scratch->sample.tid && !holder->is_shared &&
	       (holder->samples >= LS_OF_STATE_MIN ||
		(!process->is_shared && process->samples >= LS_OF_PROCESS_MIN));
}

#else

/* Outside the kernel there is one sample, so nothing is known from others. */
static __always_inline bool has_other_threads(void)
{
	return bpf_shim__has_other_threads();
}

static __always_inline int note_holder_of(const struct ls_scratch *scratch, __u64 state, int is_own)
{
	(void)scratch;
	(void)state;
	(void)is_own;
	return 0;
}

#endif

/*
 * Whether this thread, which has a pointer to the state, runs it.
 * `has_words`: words of its running call are in registers or on the stack.
 * `is_in_register`: one of them is in a register that calls preserve.
 * `is_own_stack`: what is on the stack is this thread's.
 */
static __always_inline int is_run_by_this_thread(const struct ls_scratch *scratch, __u64 state,
						 int has_words, int is_in_register,
						 int is_own_stack)
{
	if (!has_other_threads())
		return has_words;
	return note_holder_of(scratch, state, is_in_register || is_own_stack) ? has_words
									      : is_in_register;
}

#endif
