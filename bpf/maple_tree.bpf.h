/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks up the entry that covers an index in one of the kernel's maple trees.
 *
 * Names and encodings are those of include/linux/maple_tree.h and lib/maple_tree.c, Linux 6.1 to
 * 7.3. A node has 256 bytes and is aligned to its size; a pointer to one carries its type in bits 3
 * to 6.
 */
#ifndef LS_MAPLE_TREE_BPF_H
#define LS_MAPLE_TREE_BPF_H

#include <bpf/bpf_core_read.h>

#include "scratch.bpf.h"

#define MAPLE_NODE_MASK       255ULL
#define MAPLE_NODE_TYPE_SHIFT 3
#define MAPLE_NODE_TYPE_MASK  15
#define MAPLE_HEIGHT_MAX      8 /* 10^8 mappings at the lowest fill; vm.max_map_count is 65,530 */
#define XA_NODE_MIN           4096

/* Positions of a node's fields, in words of 8 bytes. */
struct ls_maple_node {
	__u32 pivots;
	__u32 pivot_count;
	__u32 slots;
	__u32 last; /* byte offset of the index of the last slot that is used */
};

/* xa_is_node(), include/linux/xarray.h: the root may be a lone entry instead. */
static __always_inline bool is_root_node(__u64 entry)
{
	return (entry & 3) == 2 && entry > XA_NODE_MIN;
}

#define words_to(type, field) (bpf_core_field_offset(type, field) / 8)

/* Format of a leaf or an inner node; inner nodes of a tree that tracks gaps have fewer slots. */
static __always_inline struct ls_maple_node format_of(bool tracks_gaps)
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

/* As ma_data_end(): if all pivots are in use, the index of the last slot is not stored. */
static __always_inline __u32 last_slot(const __u64 *words, const struct ls_maple_node *format,
				       bool tracks_gaps)
{
	__u32 last = format->pivots + format->pivot_count - 1;

	if (!tracks_gaps && words[last % LS_NODE_WORDS])
		return format->pivot_count;
	return ((const __u8 *)words)[format->last % (LS_NODE_WORDS * 8)];
}

/*
 * The slot for `index`: the first whose pivot, the slot's highest index, is not below it. Compares
 * without branches, because the verifier would follow every combination of them: a negative
 * difference has its highest bit set. The last pivot may be ULONG_MAX.
 */
static __always_inline __u32 slot_for(const __u64 *words, const struct ls_maple_node *format,
				      __u32 last, __u64 index)
{
	__u32 used = (1U << (last & 31)) - 1, slot = 0;

	for (__u32 i = 0; i < LS_PIVOTS_MAX; i++) {
		__u64 pivot = words[(format->pivots + i) % LS_NODE_WORDS];

		slot += (used >> i) & (__u32)((~pivot & (pivot - index)) >> 63);
	}
	return slot;
}

/* Takes the entry for descent->index from the last node, and its range. */
static __always_inline void take_slot(struct ls_descent *descent,
				      const struct ls_maple_node *format, __u32 last)
{
	const __u64 *words = descent->node;
	__u32 slot = slot_for(words, format, last, descent->index);

	descent->entry = words[(format->slots + slot) % LS_NODE_WORDS];
	if (slot)
		descent->low = words[(format->pivots + slot - 1) % LS_NODE_WORDS] + 1;
	if (slot < last)
		descent->high = words[(format->pivots + slot) % LS_NODE_WORDS] + 1;
}

/*
 * Descends one level from the current node. Returns 1 at the end. __noinline: verified once, not
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
	take_slot(&scratch->descent, &format, last_slot(words, &format, type == gap_tracking));
	scratch->descent.is_entry = type == leaf;
	return type == leaf;
}

/*
 * Returns the entry that covers `index` in the tree with this root, or 0 if there is none or the
 * tree could not be read.
 */
static __always_inline __u64 find_entry(struct ls_scratch *scratch, __u64 root, __u64 index)
{
	struct ls_descent *descent = &scratch->descent;

	descent->index = index;
	descent->entry = root;
	descent->is_entry = 0;
	descent->low = 0;
	descent->high = ~0ULL;
	if (!is_root_node(root))
		return 0;
	for (__u32 i = 0; i < MAPLE_HEIGHT_MAX; i++)
		if (read_node(scratch))
			break;
	return descent->is_entry ? descent->entry : 0;
}

#endif
