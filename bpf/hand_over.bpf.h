/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process may hold several families of interpreters. Their walkers look at a tick one after the
 * other, until one finds a function of a script running, which cannot have entered another
 * interpreter. Otherwise the innermost script counts: interpreters that call each other share the
 * native stack, so it is the one whose running state has the lowest anchor. Its walker is called
 * once more, unless it was the last to look.
 */
#ifndef LS_HAND_OVER_BPF_H
#define LS_HAND_OVER_BPF_H

#include "maps.bpf.h"

/*
 * Calls the walker of the first family that has not looked at this tick yet; if there is none, what
 * serves LS_FAMILY_NONE. That program also sends the sample if the walker is still being loaded.
 * Does not return once user space has loaded the core.
 */
static __always_inline void hand_over(struct bpf_perf_event_data *ctx, struct ls_tick *tick)
{
	__u32 next = LS_FAMILY_NONE;

	for (__u32 i = LS_FAMILY_COUNT; i-- > 0;)
		if (tick->families & 1U << i)
			next = i;
	tick->families &= ~(1U << next);
	bpf_tail_call(ctx, &walkers, next);
	tick->lacks_walker = 1;
	bpf_tail_call(ctx, &walkers, LS_FAMILY_NONE);
}

/* Begins a tick of a process that holds these families. */
static __always_inline void begin_hand_over(struct bpf_perf_event_data *ctx, struct ls_tick *tick,
					    __u32 families)
{
	tick->families = families;
	tick->found_family = LS_FAMILY_NONE;
	tick->undecided_family = LS_FAMILY_NONE;
	tick->is_final = 0;
	tick->lacks_walker = 0;
	hand_over(ctx, tick);
}

/* Whether a script of another family may run on top of what this sample shows. */
static __always_inline bool may_be_outer(const struct ls_sample *sample,
					 const struct ls_frame *leaf)
{
	if (sample->error == LS_WALK_NO_SCRIPT || sample->error == LS_WALK_UNDECIDED)
		return true;
	return sample->frame_count && (leaf->kind != LS_FRAME_LUA || leaf->flags & LS_FRAME_HOOKED);
}

static __always_inline void note_found(struct ls_tick *tick, const struct ls_sample *sample,
				       __u64 anchor)
{
	if (sample->error == LS_WALK_UNDECIDED) {
		if (tick->undecided_family != LS_FAMILY_NONE)
			return;
		tick->undecided_family = sample->family;
		tick->undecided_flags = sample->flags;
		tick->undecided_state = sample->state;
	} else if (sample->frame_count &&
		   (tick->found_family == LS_FAMILY_NONE || anchor < tick->found_anchor)) {
		tick->found_family = sample->family;
		tick->found_anchor = anchor;
	}
}

/*
 * Lets the other families look, unless this sample shows for certain what runs. Returns if it is to
 * be sent. `anchor` is that of its running state.
 */
static __always_inline void let_others_look(struct bpf_perf_event_data *ctx, struct ls_tick *tick,
					    struct ls_sample *sample, const struct ls_frame *leaf,
					    __u64 anchor)
{
	if (tick->is_final || !may_be_outer(sample, leaf))
		return;
	note_found(tick, sample, anchor);
	if (tick->families)
		hand_over(ctx, tick);
	if (tick->found_family != LS_FAMILY_NONE && tick->found_family != sample->family) {
		tick->is_final = 1;
		tick->families = 1U << (tick->found_family & 31);
		hand_over(ctx, tick);
	}
	if (tick->found_family == LS_FAMILY_NONE && tick->undecided_family != LS_FAMILY_NONE) {
		sample->error = LS_WALK_UNDECIDED;
		sample->family = tick->undecided_family;
		sample->flags = tick->undecided_flags;
		sample->state = tick->undecided_state;
	}
}

#endif
