/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that are in no mapping of the process.
 *
 * Many words on a stack that look like pointers are pairs of small numbers, and following one costs
 * a page fault, ten times as much as a read. The kernel's tree of mappings yields the whole gap
 * that such a word points into, and mm_lock_seq proves that the gap still exists: the kernel
 * increments it when it begins to change mappings and again when it ends (Linux 6.14, with
 * CONFIG_PER_VMA_LOCK). Without that counter, gaps are not used.
 */
#ifndef LS_UNMAPPED_BPF_H
#define LS_UNMAPPED_BPF_H

#include "machine.bpf.h"
#include "scratch.bpf.h"

#ifdef __bpf__
/* The memory that the process got by brk(2): no file is mapped there. */
static __always_inline struct ls_range heap_of_process(void)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;

	return (struct ls_range){.low = mm->start_brk, .high = mm->brk};
}
#else
static __always_inline struct ls_range heap_of_process(void)
{
	return (struct ls_range){};
}
#endif

#if defined(__bpf__) && !defined(LS_OLD_KERNEL)
#include "maple_tree.bpf.h"

/* CO-RE ignores what follows three underscores in a type name. */
struct mm_struct___counted {
	struct {
		unsigned int sequence;
	} __attribute__((preserve_access_index)) mm_lock_seq;
} __attribute__((preserve_access_index));

/* Returns 0, or 1 if the kernel has no such counter or is changing mappings right now. */
static __always_inline int read_sequence(struct mm_struct *mm, __u32 *sequence)
{
	if (!bpf_core_field_exists(struct mm_struct___counted, mm_lock_seq))
		return 1;
	*sequence = ((struct mm_struct___counted *)mm)->mm_lock_seq.sequence;
	return *sequence & 1;
}

static __always_inline struct ls_gaps *gaps_of(struct ls_scratch *scratch)
{
	return &scratch->gaps[scratch->tgid % LS_GAPPED_MAX];
}

/*
 * Gives the search the known gaps, or forgets them if they may have changed. An mm that exec() put
 * in place of another may have the same address and counter, but not a stack at the same address.
 */
static __always_inline void recall_gaps(struct ls_scratch *scratch)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct ls_gaps *gaps = gaps_of(scratch);
	__u64 stack_start = mm->start_stack;
	__u32 sequence = 1;

	if (read_sequence(mm, &sequence) || gaps->mm != (__u64)mm || gaps->sequence != sequence ||
	    gaps->stack_start != stack_start)
		*gaps = (struct ls_gaps){
			.mm = (__u64)mm, .stack_start = stack_start, .sequence = sequence};
	for (__u32 i = 0; i < LS_GAPS_MAX; i++)
		scratch->search.barren[i] = gaps->ranges[i];
}

/*
 * Looks up the gap that the search's last lost pointer points into. There is none if a mapping
 * holds the address and only the page is absent. __noinline: verified once for all callers.
 */
__noinline int learn_gap(struct ls_scratch *scratch)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct ls_gaps *gaps;
	__u32 sequence, at;

	if (!scratch || !scratch->search.lost)
		return 0;
	gaps = gaps_of(scratch);
	if (gaps->sequence & 1 || gaps->mm != (__u64)mm ||
	    find_entry(scratch, (__u64)BPF_CORE_READ(mm, mm_mt.ma_root), scratch->search.lost) ||
	    !scratch->descent.is_entry)
		return 0;
	/* This is a memory barrier: if the counter is unchanged, all reads saw the same state. */
	at = __sync_fetch_and_add(&gaps->next, 1) % LS_GAPS_MAX;
	if (read_sequence(mm, &sequence) || sequence != gaps->sequence)
		return 0;
	gaps->ranges[at].low = scratch->descent.low;
	gaps->ranges[at].high =
		scratch->descent.high < LS_USER_MAX ? scratch->descent.high : LS_USER_MAX;
	return 0;
}
#else
static __always_inline void recall_gaps(struct ls_scratch *scratch)
{
}

static __always_inline void learn_gap(struct ls_scratch *scratch)
{
}
#endif

#endif
