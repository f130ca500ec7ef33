/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which mapping of the current process an address lies in.
 *
 * bpf_find_vma() takes mmap_lock, which an interrupt can only try to take: it fails while another
 * thread changes mappings, and always on PREEMPT_RT kernels. Where it succeeds it drops the lock
 * from another interrupt, which it sends to this processor: 5.6 us in all. But since Linux 6.1 the
 * kernel keeps a process's mappings in a maple tree, which readers may descend under RCU, and a
 * perf_event program runs under RCU (bpf_overflow_handler(), kernel/events/core.c). So the tree is
 * read directly; bpf_find_vma() remains for kernels whose tree cannot be read.
 *
 * Nothing keeps the tree from changing meanwhile. What is found counts only if it is a mapping of
 * this process that holds the address.
 *
 * Names and encodings are those of include/linux/maple_tree.h and lib/maple_tree.c, Linux 6.1 to
 * 7.3. A node is 256 bytes, aligned to that; a pointer to one carries its type in bits 3 to 6.
 */
#ifndef LS_FIND_MAPPING_BPF_H
#define LS_FIND_MAPPING_BPF_H

#include <bpf/bpf_core_read.h>

#include "maps.bpf.h"

#define MAPLE_NODE_MASK       255ULL
#define MAPLE_NODE_TYPE_SHIFT 3
#define MAPLE_NODE_TYPE_MASK  15
#define MAPLE_HEIGHT_MAX      8 /* 10^8 mappings at the lowest fill; vm.max_map_count is 65,530 */
#define XA_NODE_MIN           4096

struct ls_bounds {
	__u64 low;
	__u64 high;
};

/* Where a node keeps what, in words. */
struct ls_maple_node {
	__u32 pivots;
	__u32 pivot_count;
	__u32 slots;
	__u32 last; /* byte offset of the index of the last slot that is used */
};

/* xa_is_node(), include/linux/xarray.h: the root may be a lone entry instead. */
static __always_inline int is_root_node(__u64 entry)
{
	return (entry & 3) == 2 && entry > XA_NODE_MIN;
}

#define words_to(type, field) (bpf_core_field_offset(type, field) / 8)

/* Of a leaf or an inner node; inner nodes of a tree that tracks gaps have fewer slots. */
static __always_inline struct ls_maple_node format_of(int tracks_gaps)
{
	if (tracks_gaps)
		return (struct ls_maple_node){
			.pivots = words_to(struct maple_arange_64, pivot),
			.pivot_count = bpf_core_field_size(struct maple_arange_64, pivot) / 8,
			.slots = words_to(struct maple_arange_64, slot),
			.last = bpf_core_field_offset(struct maple_arange_64, meta.end),
		};
	return (struct ls_maple_node){
		.pivots = words_to(struct maple_range_64, pivot),
		.pivot_count = bpf_core_field_size(struct maple_range_64, pivot) / 8,
		.slots = words_to(struct maple_range_64, slot),
		.last = bpf_core_field_offset(struct maple_range_64, meta.end),
	};
}

#undef words_to

/* ma_data_end(): where all pivots are in use, the last slot's index has no room. */
static __always_inline __u32 last_slot(const __u64 *words, const struct ls_maple_node *format,
				       int tracks_gaps)
{
	__u32 last = format->pivots + format->pivot_count - 1;

	if (!tracks_gaps && words[last % LS_NODE_WORDS])
		return format->pivot_count;
	return ((const __u8 *)words)[format->last % (LS_NODE_WORDS * 8)];
}

/*
 * The entry for `address`: that of the first slot whose pivot, its highest address, is not below.
 * Without a branch for each pivot, for the verifier would follow every combination of them: a
 * negative difference has its highest bit set. The last pivot may be ULONG_MAX.
 */
static __always_inline __u64 entry_for(const __u64 *words, const struct ls_maple_node *format,
				       __u32 last, __u64 address)
{
	__u32 used = (1U << (last & 31)) - 1, slot = 0;

	for (__u32 i = 0; i < LS_PIVOTS_MAX; i++) {
		__u64 pivot = words[(format->pivots + i) % LS_NODE_WORDS];

		slot += (used >> i) & (__u32)((~pivot & (pivot - address)) >> 63);
	}
	return words[(format->slots + slot) % LS_NODE_WORDS];
}

/*
 * Goes from the node that the descent has come to one level down. 1: the end. Verified once, not
 * for each level.
 */
__noinline int read_node(struct ls_scratch *scratch)
{
	const int gap_tracking = bpf_core_enum_value(enum maple_type, maple_arange_64);
	const int leaf = bpf_core_enum_value(enum maple_type, maple_leaf_64);
	struct ls_maple_node format;
	__u64 entry, *words;
	int type;

	if (!scratch)
		return 1;
	words = scratch->descent.node;
	entry = scratch->descent.entry;
	type = entry >> MAPLE_NODE_TYPE_SHIFT & MAPLE_NODE_TYPE_MASK;
	if (bpf_probe_read_kernel(words, LS_NODE_WORDS * 8,
				  (const void *)(entry & ~MAPLE_NODE_MASK)))
		return 1;
	format = format_of(type == gap_tracking);
	scratch->descent.entry =
		entry_for(words, &format, last_slot(words, &format, type == gap_tracking),
			  scratch->descent.address);
	scratch->descent.is_mapping = type == leaf;
	return type == leaf;
}

/* 0, or 1: it was not found this way, which does not mean that there is none. */
static __always_inline int read_tree(struct ls_scratch *scratch, struct task_struct *task,
				     __u64 address, struct ls_bounds *bounds)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct ls_descent *descent = &scratch->descent;
	struct vm_area_struct *mapping;

	descent->address = address;
	descent->entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	descent->is_mapping = 0;
	if (!is_root_node(descent->entry))
		return 1;
	for (__u32 i = 0; i < MAPLE_HEIGHT_MAX; i++)
		if (read_node(scratch))
			break;
	mapping = (struct vm_area_struct *)descent->entry;
	if (!descent->is_mapping || !mapping || BPF_CORE_READ(mapping, vm_mm) != mm)
		return 1;
	bounds->low = BPF_CORE_READ(mapping, vm_start);
	bounds->high = BPF_CORE_READ(mapping, vm_end);
	return address < bounds->low || address >= bounds->high;
}

static long note_bounds(struct task_struct *task, struct vm_area_struct *mapping, void *context)
{
	struct ls_bounds *bounds = context;

	bounds->low = BPF_CORE_READ(mapping, vm_start);
	bounds->high = BPF_CORE_READ(mapping, vm_end);
	return 0;
}

/*
 * Fills *bounds with the mapping of the current task's memory that holds `address`. 0, or 1: there
 * is none, or the kernel could not say, which it counts.
 */
static __always_inline int find_mapping(struct ls_scratch *scratch, __u64 address,
					struct ls_bounds *bounds)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ls_counters *counters = counters_here();
	long error;

	if (bpf_core_field_exists(struct mm_struct, mm_mt) &&
	    !read_tree(scratch, task, address, bounds))
		return 0;
	error = bpf_find_vma(task, address, note_bounds, bounds, 0);
	if (counters)
		counters->vma_busy += error == -16; /* EBUSY */
	return error || address < bounds->low || address >= bounds->high;
}

#endif
