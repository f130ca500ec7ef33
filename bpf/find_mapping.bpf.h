/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the mapping of the current process that holds an address.
 *
 * bpf_find_vma() takes mmap_lock, which an interrupt can only try to take: it fails while another
 * thread changes mappings, and always on PREEMPT_RT kernels. If it succeeds, it drops the lock from
 * another interrupt, which it sends to this CPU: 5.6 us in all. But since Linux 6.1 the kernel
 * keeps a process's mappings in a maple tree, which readers may descend under RCU, and a perf_event
 * program runs under RCU (bpf_overflow_handler(), kernel/events/core.c). So the code below reads
 * the tree directly, and calls bpf_find_vma() only if that fails. Kernels before 6.1 keep a
 * red-black tree, which writers rebalance without regard for readers that hold no lock: at worst an
 * address is not found. Linux 5.15 and 5.16 lack bpf_find_vma().
 *
 * A tree may change while it is read. A result counts only if it is a mapping of this process that
 * holds the address.
 */
#ifndef LS_FIND_MAPPING_BPF_H
#define LS_FIND_MAPPING_BPF_H

#include "maps.bpf.h"
#ifndef LS_OLD_KERNEL
#include "maple_tree.bpf.h"
#endif

#define RB_HEIGHT_MAX 36 /* of vm.max_map_count nodes: 2 log2(65,531), rounded up, plus some */

#ifndef LS_OLD_KERNEL
#define HAS_TREE     1
#define HAS_FIND_VMA 1
#else
/* CO-RE ignores what follows three underscores in a type name. */
struct mm_struct___old {
	struct rb_root mm_rb;
} __attribute__((preserve_access_index));

struct vm_area_struct___old {
	struct rb_node vm_rb;
} __attribute__((preserve_access_index));

#define HAS_TREE     bpf_core_field_exists(struct mm_struct___old, mm_rb)
#define HAS_FIND_VMA bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma)
#endif

struct ls_bounds {
	__u64 low;
	__u64 high;
};

static __always_inline int take_bounds(struct vm_area_struct *mapping, struct mm_struct *mm,
				       __u64 address, struct ls_bounds *bounds)
{
	if (!mapping || BPF_CORE_READ(mapping, vm_mm) != mm)
		return 1;
	bounds->low = BPF_CORE_READ(mapping, vm_start);
	bounds->high = BPF_CORE_READ(mapping, vm_end);
	return address < bounds->low || address >= bounds->high;
}

/*
 * Returns 0, or 1 if the address was not found in the kernel's tree, although a mapping may hold it
 * nevertheless.
 */
#ifndef LS_OLD_KERNEL
static __always_inline int read_tree(struct ls_scratch *scratch, struct task_struct *task,
				     __u64 address, struct ls_bounds *bounds)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 root = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);

	return take_bounds((void *)find_entry(scratch, root, address), mm, address, bounds);
}
#else
static __always_inline int read_tree(struct ls_scratch *scratch, struct task_struct *task,
				     __u64 address, struct ls_bounds *bounds)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct rb_node *node = BPF_CORE_READ((struct mm_struct___old *)mm, mm_rb.rb_node);
	struct vm_area_struct *mapping;

	for (__u32 i = 0; node && i < RB_HEIGHT_MAX; i++) {
		mapping = (void *)node - bpf_core_field_offset(struct vm_area_struct___old, vm_rb);
		if (address >= BPF_CORE_READ(mapping, vm_end))
			node = BPF_CORE_READ(node, rb_right);
		else if (address < BPF_CORE_READ(mapping, vm_start))
			node = BPF_CORE_READ(node, rb_left);
		else
			return take_bounds(mapping, mm, address, bounds);
	}
	return 1;
}
#endif

static long note_bounds(struct task_struct *task, struct vm_area_struct *mapping, void *context)
{
	struct ls_bounds *bounds = context;

	bounds->low = BPF_CORE_READ(mapping, vm_start);
	bounds->high = BPF_CORE_READ(mapping, vm_end);
	return 0;
}

/*
 * Fills *bounds with the current task's mapping that holds `address`. Returns 0, or 1 if there is
 * none or the kernel could not tell. Counts lookups that failed because mmap_lock was busy.
 */
static __always_inline int find_mapping(struct ls_scratch *scratch, __u64 address,
					struct ls_bounds *bounds)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ls_counters *counters = counters_here();
	long error;

	if (HAS_TREE && !read_tree(scratch, task, address, bounds))
		return 0;
	if (!HAS_FIND_VMA)
		return 1;
	error = bpf_find_vma(task, address, note_bounds, bounds, 0);
	if (counters)
		counters->vma_busy += error == -16; /* EBUSY */
	return error || address < bounds->low || address >= bounds->high;
}

#endif
