/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects the layout that a stack is taken with, among those of one family that may fit. The
 * includer has defined LS_FAMILY, the family, and defines the functions that are declared first.
 */
#ifndef LS_SELECT_LAYOUT_BPF_H
#define LS_SELECT_LAYOUT_BPF_H

#include "scratch.bpf.h"

/* Returns the layout in a slot, or NULL if there is none. */
static const ls_layout_t *find_layout(__u32 slot);

/*
 * Takes the stack of this sample under one layout into scratch->sample. Returns 1 if it is evidence
 * for that layout: a whole chain with a Lua function in it and no contradiction. While
 * scratch->is_undecided, it must pass the self-check as well.
 */
__noinline int take_stack(struct ls_scratch *scratch, const ls_layout_t *layout,
			  struct ls_thread *thread);

/*
 * A process may contain several interpreters, and files only suggest candidates: each layout that
 * may fit is tried. Only what proves a layout is remembered under it.
 */
struct ls_trial {
	struct ls_scratch *scratch;
	struct ls_thread *thread;
};

/*
 * What is remembered about the thread belongs to one layout. A search with another one starts with
 * nothing and leaves nothing behind, unless that layout is the one to keep.
 */
static __always_inline struct ls_thread *memory_for(const struct ls_trial *trial, __u32 index,
						    bool is_kept)
{
	struct ls_thread *thread = trial->thread;

	if (thread->layout == index && thread->family == LS_FAMILY &&
	    trial->scratch->selection.decided & (1U << (index & 31)))
		return thread;
	if (!is_kept) {
		thread = &trial->scratch->stranger;
		thread->stack_low = trial->thread->stack_low;
		thread->stack_high = trial->thread->stack_high;
		thread->own_stack = trial->thread->own_stack;
	}
	thread->family = LS_FAMILY;
	thread->layout = index;
	thread->chain_count = 0;
	thread->root.state = 0;
	thread->pc_best = 0;
	for (__u32 i = 0; i < LS_REGISTER_MAX; i++)
		thread->pc_scores[i] = 0;
	return thread;
}

/*
 * Evaluates the result of one layout. A stack that proves nothing counts only if there is no doubt
 * about the layout: it is the only one, or the thread has been seen to run this VM under it.
 */
static __always_inline void score_layout(const struct ls_trial *trial, __u32 index,
					 int has_evidence, __u64 known_root)
{
	struct ls_scratch *scratch = trial->scratch;
	struct ls_selection *selection = &scratch->selection;
	const struct ls_sample *sample = &scratch->sample;
	__u32 bit = 1U << (index & 31), last = scratch->chain_count - 1;

	if (sample->error == LS_WALK_NO_SCRIPT || (!sample->error && !sample->frame_count))
		return;
	selection->runs |= bit;
	if (has_evidence) {
		if (!selection->fits || scratch->chain[0].anchor < selection->best_anchor) {
			selection->best = index;
			selection->best_anchor = scratch->chain[0].anchor;
		}
		selection->fits |= bit;
		return;
	}
	if (!sample->error && !scratch->lua_frames && !scratch->doubt)
		selection->idle |= bit;
	if (!scratch->doubt &&
	    (sample->error == LS_WALK_STACK_OWNER || sample->error == LS_WALK_RESUMERS))
		selection->unsure |= bit;
	if (!selection->fits && selection->decided & bit &&
	    (selection->layouts == bit ||
	     (known_root && last < LS_CHAIN_MAX && scratch->chain[last].state == known_root)))
		selection->best = index;
}

/* Tries one candidate. The round after the last repeats the best one, for the record. */
static long try_layout(__u32 i, void *context)
{
	const struct ls_trial *trial = context;
	struct ls_scratch *scratch = trial->scratch;
	struct ls_selection *selection = &scratch->selection;
	int is_kept = i >= LS_LAYOUT_MAX, has_evidence;
	__u32 index = is_kept ? selection->best : (selection->first + i) % LS_LAYOUT_MAX;
	__u32 bit = 1U << (index & 31);
	const ls_layout_t *layout;
	struct ls_thread *thread;
	__u64 known_root;

	if (!is_kept && !(selection->layouts & bit))
		return 0;
	layout = find_layout(index);
	if (!layout)
		return 1;
	thread = memory_for(trial, index, is_kept);
	known_root = thread->root.state;
	scratch->sample.layout = index;
	scratch->is_undecided = !(selection->decided & bit);
	has_evidence = take_stack(scratch, layout, thread);
	if (is_kept)
		return 1;
	score_layout(trial, index, has_evidence, known_root);
	if (thread != trial->thread)
		return 0;
	/*
	 * It is the only one, or nothing has changed and a Lua function runs, which can have
	 * entered no other interpreter.
	 */
	selection->is_done =
		selection->layouts == bit || (has_evidence && !scratch->search.chunks_read &&
					      scratch->frames[0].kind == LS_FRAME_LUA &&
					      !(scratch->frames[0].flags & LS_FRAME_HOOKED));
	return selection->is_done;
}
LS_STEP(try_layout);

/* No layout fits: discards what the last one tried has left in the scratch. */
static __always_inline void discard(const struct ls_trial *trial)
{
	const struct ls_selection *selection = &trial->scratch->selection;
	struct ls_sample *sample = &trial->scratch->sample;

	trial->thread->chain_count = 0;
	trial->thread->root.state = 0;
	sample->frame_count = 0;
	/* User space may derive the layout from what that state leads to. */
	sample->state = trial->scratch->chain_count ? trial->scratch->chain[0].state : 0;
	sample->vm = 0;
	sample->error = selection->runs ? LS_WALK_UNDECIDED : LS_WALK_NO_SCRIPT;
	if (selection->runs && !selection->idle)
		sample->flags |= LS_SAMPLE_MISFIT | (selection->unsure ? LS_SAMPLE_UNSURE : 0);
}

/* Takes this sample's stack into scratch->sample, with whichever of the target's layouts fits. */
static __always_inline void select_layout(struct ls_scratch *scratch, struct ls_thread *thread,
					  const struct ls_image *target)
{
	struct ls_trial trial = {.scratch = scratch, .thread = thread};
	struct ls_selection *selection = &scratch->selection;
	struct ls_sample *sample = &scratch->sample;

	*selection = (struct ls_selection){
		.layouts = target->candidates[LS_FAMILY].layouts,
		.decided = target->candidates[LS_FAMILY].decided,
		.first = thread->layout,
		.best = LS_LAYOUT_MAX,
	};
	for (__u32 i = 0; i < LS_CODE_RANGES; i++)
		scratch->search.barren[LS_BARREN_CODE + i] = target->code[i];
	repeat(LS_LAYOUT_MAX + 1, try_layout, &trial);
	sample->verified = !!selection->fits;
	sample->other_layouts = selection->fits & ~(1U << (sample->layout & 31));
	if (!selection->is_done)
		thread->is_nested = !!sample->other_layouts;
	if (selection->best >= LS_LAYOUT_MAX && !selection->is_done)
		discard(&trial);
	else if (thread->is_nested && !sample->error)
		sample->error = LS_WALK_RESUMERS; /* the outer interpreter's frames are missing */
}

#endif
