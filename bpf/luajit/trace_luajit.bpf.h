/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the functions that a trace is executing.
 *
 * While a trace runs, the stack of values is valid up to the function that the trace began in,
 * whose base is in jit_base. Functions that the compiler inlined have no frames there. But the
 * compiler keeps snapshots: for each place where the trace may be left, what its slots would hold,
 * frames included, and which instruction of the bytecode would be next. So the snapshot before the
 * running machine code shows the functions and their calls. The VM itself does the same if a C
 * function that a trace called throws an error (lj_trace_unwind, lj_trace.c).
 *
 * The slots of these frames become an overlay over the stack of values, which is then walked like
 * any other. All of it is checked: the trace has its number, the machine code contains the pc, and
 * the instruction lies in the bytecode of the function on top.
 */
#ifndef LS_TRACE_LUAJIT_BPF_H
#define LS_TRACE_LUAJIT_BPF_H

#include "luajit/find_trace_luajit.bpf.h"

#define LS_SNAPSHOT_STEPS 16 /* of a binary search among at most 65,535 snapshots */
#define LS_SNAPSHOTS_NEAR (LS_VIEW_BYTES / sizeof(struct ls_luajit_snapshot)) /* in one view */

/* Returns a copy of a snapshot of the trace, or NULL. Those before it are read along with it. */
static __always_inline const __u8 *view_snapshot(struct ls_scratch *scratch, __u32 index)
{
	const __u64 size = sizeof(struct ls_luajit_snapshot);
	__u64 first = scratch->trace.header.snapshots;

	return view(&scratch->trace_part, first + index * size, size, first);
}

/* One step of a binary search for the first snapshot after trace.pc. 1: done. */
static long halve_snapshots(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_trace_frames *trace = &scratch->trace;
	__u32 middle = (trace->low + trace->high) / 2;
	const __u8 *snapshot;
	__u16 offset;

	if (trace->low >= trace->high)
		return 1;
	if (trace->high - trace->low < LS_SNAPSHOTS_NEAR)
		view_snapshot(scratch, trace->high - 1); /* reads the others, too */
	snapshot = view_snapshot(scratch, middle);
	if (!snapshot) {
		trace->low = trace->high = 0;
		return 1;
	}
	__builtin_memcpy(&offset, snapshot + offsetof(struct ls_luajit_snapshot, code_offset),
			 sizeof(offset));
	if ((trace->pc - trace->header.code) / LS_CODE_UNIT < offset)
		trace->high = middle;
	else
		trace->low = middle + 1;
	return 0;
}
LS_STEP(halve_snapshots);

#ifdef LS_NARROW
/* Copies the map of trace.snapshot, with the links at its end. Returns 0, or 1: it cannot. */
static __always_inline int read_map(struct ls_scratch *scratch)
{
	struct ls_trace_frames *trace = &scratch->trace;
	__u32 from = trace->snapshot.map_offset, end = trace->header.map_count, count;
	__u32 following = trace->low ? trace->low : 1;
	const __u8 *next;

	if (following < trace->header.snapshot_count) {
		next = view_snapshot(scratch, following);
		if (!next)
			return 1;
		__builtin_memcpy(&end, next + offsetof(struct ls_luajit_snapshot, map_offset),
				 sizeof(end));
	}
	if (from > end || end > trace->header.map_count)
		return 1;
	count = end - from;
	trace->link = count;
	return count <= trace->snapshot.entry_count || count > LS_MAP_MAX ||
	       read_target(trace->map, count * 4, trace->header.snapshot_map + 4ULL * from);
}
#else
/* Copies the map of trace.snapshot, a part of the trace's. Returns 0, or 1: it cannot. */
static __always_inline int read_map(struct ls_scratch *scratch)
{
	struct ls_trace_frames *trace = &scratch->trace;
	__u32 words = trace->snapshot.entry_count + 2;

	return trace->snapshot.map_offset > trace->header.map_count ||
	       words > trace->header.map_count - trace->snapshot.map_offset ||
	       read_target(trace->map, words * 4,
			   trace->header.snapshot_map + 4ULL * trace->snapshot.map_offset);
}
#endif

/* Sets trace.low to the index of the first snapshot after trace.pc. */
static __always_inline void search_snapshots(struct ls_pass *pass)
{
	struct ls_trace_frames *trace = &pass->scratch->trace;

	trace->low = 0;
	trace->high = trace->header.snapshot_count;
	repeat(LS_SNAPSHOT_STEPS + 1, halve_snapshots, pass);
}

#if LS_HAS_FRAME_RECORDS
/* Looks for the snapshot of one of several addresses. 1: its snapshot or its trace differs. */
static long compare_snapshot(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_trace_frames *trace = &pass->scratch->trace;
	__u32 first = trace->low;

	trace->pc = pass->scratch->base.returns[(i + 1) % LS_RETURNS_MAX] - 1;
	search_snapshots(pass);
	trace->is_found = is_in_code(trace, trace->pc) && trace->low == first;
	return !trace->is_found;
}
LS_STEP(compare_snapshot);

/*
 * Like search_snapshots(). Returns 1 if the trace may have made one of several calls, unless all of
 * them have the same snapshot.
 */
static __always_inline int find_snapshot(struct ls_pass *pass)
{
	struct ls_trace_frames *trace = &pass->scratch->trace;
	__u32 count = pass->scratch->base.return_count;

	search_snapshots(pass);
	if (count < 2 || is_in_code(trace, pass->scratch->pc))
		return 0;
	if (count > LS_RETURNS_MAX)
		return 1;
	repeat(count - 1, compare_snapshot, pass);
	return !trace->is_found;
}
#else
static __always_inline int find_snapshot(struct ls_pass *pass)
{
	search_snapshots(pass);
	return 0;
}
#endif

/* Whether the snapshot was taken at an instruction of the trace: constants are below the bias. */
static __always_inline bool is_snapshot_of_trace(const struct ls_trace_frames *trace)
{
	return trace->snapshot.reference > LS_LUAJIT_REF_BIAS &&
	       trace->snapshot.reference <= trace->header.instruction_end;
}

/*
 * Reads the snapshot at or before trace.pc, or the first, and its map, which is a part of the
 * trace's. Returns 0, or 1: it cannot.
 */
static __always_inline int read_snapshot(struct ls_pass *pass)
{
	struct ls_trace_frames *trace = &pass->scratch->trace;
	__u32 count = trace->header.snapshot_count;
	const __u8 *snapshot;

	pass->scratch->trace_part.end = 0;
	if (find_snapshot(pass))
		return 1;
	snapshot = count ? view_snapshot(pass->scratch, trace->low ? trace->low - 1 : 0) : NULL;
	if (!snapshot)
		return 1;
	__builtin_memcpy(&trace->snapshot, snapshot, sizeof(trace->snapshot));
	return !is_snapshot_of_trace(trace) || read_map(pass->scratch);
}

/*
 * Reads what a reference stands for into trace.constant: an instruction, and the word after it.
 * Returns 0, or 1: the trace has no such reference, or it cannot be read.
 */
static __always_inline int read_reference(struct ls_scratch *scratch, __u32 entry)
{
	struct ls_trace_frames *trace = &scratch->trace;
	__u32 reference = entry & 0xffff;
	const __u8 *words;

	if (reference < trace->header.constant_start || reference >= trace->header.instruction_end)
		return 1;
	words = view(&scratch->trace_part, trace->header.ir + 8ULL * reference,
		     sizeof(trace->constant),
		     trace->header.ir + 8ULL * trace->header.constant_start);
	if (!words)
		return 1;
	__builtin_memcpy(trace->constant, words, sizeof(trace->constant));
	return 0;
}

static __always_inline void set_slot(struct ls_trace_frames *trace, __u32 slot, __u64 value)
{
	trace->slots[slot % LS_SLOTS_MAX] = value;
	trace->is_set[slot % LS_SLOTS_MAX] = 1;
}

/*
 * The function in a slot: a constant, or loaded from another slot, like the vararg function that
 * the trace began in. 0: anything else.
 */
static __always_inline __u64 function_of(struct ls_scratch *scratch, __u32 entry)
{
	struct ls_trace_frames *trace = &scratch->trace;
	const __u64 tag = LS_LUAJIT_BYTES(~(__u64)LS_LUAJIT_FUNCTION << LS_LUAJIT_TYPE_SHIFT, 0);
	__u32 slot;
	__u64 value;

	if (read_reference(scratch, entry))
		return 0;
	if ((entry & 0xffff) < LS_LUAJIT_REF_BIAS)
		return LS_LUAJIT_BYTES(trace->constant[1], (__u32)trace->constant[0]) | tag;
	slot = (__u16)trace->constant[0];
	if (slot >= LS_SLOTS_MAX)
		return 0;
	if (trace->is_set[slot])
		return trace->slots[slot];
	return read_target(&value, sizeof(value), trace->start + 8ULL * slot) ? 0 : value;
}

#ifdef LS_NARROW
/*
 * Puts what an entry of the snapshot's map says about frames into the overlay. The links follow the
 * map, those of the topmost frame first.
 */
static long overlay_entry(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_trace_frames *trace = &scratch->trace;
	__u32 entry = trace->map[i % LS_SLOTS_MAX], slot = entry >> 24;
	__u64 link;

	if (!(entry & (LS_LUAJIT_SNAP_FRAME | LS_LUAJIT_SNAP_CONT)) || !slot)
		return 0;
	trace->link--;
	trace->is_found = trace->link > trace->snapshot.entry_count && trace->link < LS_MAP_MAX;
	if (!trace->is_found)
		return 1;
	link = trace->map[trace->link % LS_MAP_MAX];
	set_slot(trace, slot, (__u32)function_of(scratch, entry) | link << 32);
	trace->top = slot;
	return 0;
}
LS_STEP(overlay_entry);

/* Puts the walk at the topmost of the frames that the overlay has now. */
static __always_inline void enter_overlay(struct ls_scratch *scratch)
{
	struct ls_trace_frames *trace = &scratch->trace;

	scratch->walk.base = scratch->global.jit_base + 8 * trace->top;
	scratch->walk.pc = trace->map[trace->snapshot.entry_count] + 4;
}
#else
/* Puts what an entry of the snapshot's map says about frames into the overlay. 1: no entry. */
static long overlay_entry(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_trace_frames *trace = &scratch->trace;
	__u32 entry = trace->map[i % LS_SLOTS_MAX], slot = entry >> 24;
	__u32 before = trace->map[(i - 1) % LS_SLOTS_MAX];

	if (!(entry & (LS_LUAJIT_SNAP_FRAME | LS_LUAJIT_SNAP_CONT)))
		return 0;
	if (slot > 1) {
		/* links and continuations are constants */
		trace->is_found =
			(entry & 0xffff) < LS_LUAJIT_REF_BIAS && !read_reference(scratch, entry);
		if (!trace->is_found)
			return 1;
		set_slot(trace, slot, trace->constant[1]);
	}
	if (!(entry & LS_LUAJIT_SNAP_FRAME) || !slot)
		return 0;
	if (i && before >> 24 == slot - 1)
		set_slot(trace, slot - 1, function_of(scratch, before));
	return 0;
}
LS_STEP(overlay_entry);

/* Puts the walk at the topmost of the frames that the overlay has now. */
static __always_inline void enter_overlay(struct ls_scratch *scratch)
{
	const struct ls_trace_frames *trace = &scratch->trace;
	__u32 at = trace->snapshot.entry_count;
	__u64 next = trace->map[at] | (__u64)trace->map[at + 1] << 32;

	scratch->walk.base = scratch->global.jit_base + 8 * (next & 0xff);
	scratch->walk.pc = (next >> 8) + 4;
}
#endif

/*
 * Puts the walk at the function that the trace runs, with the frames of inlined functions as an
 * overlay. Returns 0, or 1: the trace cannot be resolved, and the walk is at the function that it
 * began in. __noinline: verified once for all callers.
 */
__noinline int resolve_trace(struct ls_scratch *scratch, const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_trace_frames *trace;

	if (!scratch || !layout)
		return 1;
	trace = &scratch->trace;
	if (layout->lacks_places)
		return 1;
	find_returns(&pass);
	if (!find_trace(&pass) || read_snapshot(&pass))
		return 1;
	trace->start = scratch->global.jit_base - LS_FRAME_BYTES;
	__builtin_memset(trace->is_set, 0, sizeof(trace->is_set));
#ifdef LS_NARROW
	trace->top = 0;
#endif
	repeat(trace->snapshot.entry_count, overlay_entry, &pass);
	if (!trace->is_found)
		return 1;
	trace->is_on = 1;
	enter_overlay(scratch);
	return 0;
}

/*
 * Returns the slots of a frame on a stack of values, from `address` on, with the overlay of a
 * trace; NULL: they cannot be read. Slots above those that the trace began with exist in the
 * overlay alone.
 */
static __always_inline const __u64 *overlaid_slots(struct ls_scratch *scratch, __u64 address)
{
	struct ls_trace_frames *trace = &scratch->trace;
	__u64 slot = (address - trace->start) / 8;

	if (slot >= LS_SLOTS_MAX ||
	    (slot < LS_FRAME_BYTES / 8 && read_target(trace->pair, LS_FRAME_BYTES, address)))
		return NULL;
	for (__u32 i = 0; i < LS_FRAME_BYTES / 8; i++) {
		if (trace->is_set[slot + i])
			trace->pair[i] = trace->slots[slot + i];
		else if (slot + i > LS_LUAJIT_BYTES(1, 0))
			trace->pair[i] = 0;
	}
	return trace->pair;
}

#endif
