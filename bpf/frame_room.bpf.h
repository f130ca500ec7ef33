/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the frames of a walk from the leaf to the root in the room that the sample has. The
 * includer has defined struct ls_walk with `count`, `last`, `turn` and `frame`, and struct
 * ls_pass. It calls put_frame() for each frame, and close_gap() at the end.
 */
#ifndef LS_FRAME_ROOM_BPF_H
#define LS_FRAME_ROOM_BPF_H

#include "fault.bpf.h"
#include "scratch.bpf.h"

/*
 * Of more frames than there is room for, those next to the leaf are kept, and those next to the
 * root: these take turns in the upper half, until the last is known.
 */
static __always_inline void put_frame(struct ls_scratch *scratch)
{
	struct ls_walk *walk = &scratch->walk;
	__u32 room = scratch->frame_room, first = room / 2 + 1, at = walk->count;

	if (at >= room) {
		if (room <= first)
			return;
		at = first + (at - first) % (room - first);
	}
	if (at >= LS_DEPTH_MAX)
		return;
	scratch->frames[at] = walk->frame;
	walk->last = at;
	walk->count++;
	scratch->sample.frame_count = walk->count < room ? walk->count : room;
}

/* Exchanges two frames of [turn.first, turn.end), the `i`th from either end. 1: done. */
static long exchange_frames(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	__u32 low = scratch->walk.turn.first + i, high = scratch->walk.turn.end - 1 - i;
	struct ls_frame frame;

	if (low >= high || low >= LS_DEPTH_MAX || high >= LS_DEPTH_MAX)
		return 1;
	frame = scratch->frames[low];
	scratch->frames[low] = scratch->frames[high];
	scratch->frames[high] = frame;
	return 0;
}
LS_STEP(exchange_frames);

__noinline int reverse_frames(struct ls_scratch *scratch, __u32 first, __u32 end)
{
	struct ls_pass pass = {.scratch = scratch};

	if (!scratch)
		return 0;
	scratch->walk.turn.first = first;
	scratch->walk.turn.end = end;
	repeat(LS_DEPTH_MAX / 2, exchange_frames, &pass);
	return 0;
}

/* Puts the frames next to the root in order, and a placeholder for those without room before. */
static __always_inline void close_gap(struct ls_scratch *scratch)
{
	__u32 room = scratch->frame_room, first = room / 2 + 1, turned;
	struct ls_frame gap = {.kind = LS_FRAME_TRUNCATED};

	if (scratch->walk.count <= room)
		return;
	note_error(scratch, LS_WALK_DEPTH);
	if (first > LS_DEPTH_MAX)
		return;
	scratch->frames[first - 1] = gap;
	if (room <= first)
		return;
	turned = first + (scratch->walk.count - first) % (room - first);
	reverse_frames(scratch, first, turned);
	reverse_frames(scratch, turned, room);
	reverse_frames(scratch, first, room);
}

#endif
