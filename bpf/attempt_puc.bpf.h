/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the layouts that may fit a stack is taken with. The includer defines find_layout(),
 * which knows them by index, and NULL for one that is not there.
 */
#ifndef LS_ATTEMPT_PUC_BPF_H
#define LS_ATTEMPT_PUC_BPF_H

#include "walk_puc.bpf.h"

/*
 * A process may hold several interpreters, and files only name candidates: each layout that may fit
 * is tried. Nothing is remembered under a layout but what is proof of it.
 */
struct ls_trial {
	struct ls_scratch *scratch;
	struct ls_thread *thread;
};

/*
 * What is remembered of the thread belongs to one layout. Another one's search starts with nothing
 * and leaves nothing behind, unless it is the one to keep.
 */
static __always_inline struct ls_thread *memory_for(const struct ls_trial *trial, __u32 index,
						    int is_kept)
{
	struct ls_thread *thread = trial->thread;

	if (thread->layout == index && trial->scratch->attempt.decided & (1U << (index & 31)))
		return thread;
	if (!is_kept) {
		thread = &trial->scratch->stranger;
		thread->stack_low = trial->thread->stack_low;
		thread->stack_high = trial->thread->stack_high;
		thread->own_stack = trial->thread->own_stack;
	}
	thread->layout = index;
	thread->chain_count = 0;
	thread->root.state = 0;
	thread->pc_best = 0;
	for (__u32 i = 0; i < LS_REGISTER_MAX; i++)
		thread->pc_scores[i] = 0;
	return thread;
}

/*
 * Takes in what came of one layout. Without proof a stack counts where there is no doubt about the
 * layout: it is the only one, or the thread has been seen to run this VM under it.
 */
static __always_inline void judge(const struct ls_trial *trial, __u32 index, int is_proof,
				  __u64 known_root)
{
	struct ls_scratch *scratch = trial->scratch;
	struct ls_attempt *attempt = &scratch->attempt;
	const struct ls_sample *sample = &scratch->sample;
	__u32 bit = 1U << (index & 31), last = scratch->chain_count - 1;

	if (sample->error == LS_WALK_NO_SCRIPT || (!sample->error && !sample->frame_count))
		return;
	attempt->runs |= bit;
	if (is_proof) {
		if (!attempt->fits || scratch->chain[0].error_jump < attempt->best_jump) {
			attempt->best = index;
			attempt->best_jump = scratch->chain[0].error_jump;
		}
		attempt->fits |= bit;
		return;
	}
	if (!sample->error && !scratch->walk.lua_frames && !scratch->walk.doubt)
		attempt->idle |= bit;
	if (!attempt->fits && attempt->decided & bit &&
	    (attempt->layouts == bit ||
	     (known_root && last < LS_CHAIN_MAX && scratch->chain[last].state == known_root)))
		attempt->best = index;
}

/* One candidate; the round after the last takes the one to keep once more, for the record. */
static long try_layout(__u32 i, void *context)
{
	const struct ls_trial *trial = context;
	struct ls_scratch *scratch = trial->scratch;
	struct ls_attempt *attempt = &scratch->attempt;
	int is_kept = i >= LS_LAYOUT_MAX, is_proof;
	__u32 index = is_kept ? attempt->best : (attempt->first + i) % LS_LAYOUT_MAX;
	__u32 bit = 1U << (index & 31);
	const struct ls_puc_layout *layout;
	struct ls_thread *thread;
	__u64 known_root;

	if (!is_kept && !(attempt->layouts & bit))
		return 0;
	layout = find_layout(index);
	if (!layout)
		return 1;
	thread = memory_for(trial, index, is_kept);
	known_root = thread->root.state;
	scratch->sample.layout = index;
	scratch->is_undecided = !(attempt->decided & bit);
	is_proof = take_stack_puc(scratch, layout, thread);
	if (is_kept)
		return 1;
	judge(trial, index, is_proof, known_root);
	if (thread != trial->thread)
		return 0;
	/* The only one; or nothing has moved and Lua runs, under which no other can be. */
	attempt->is_done =
		attempt->layouts == bit || (is_proof && !scratch->search.chunks_read &&
					    scratch->frames[0].kind == LS_FRAME_LUA &&
					    !(scratch->frames[0].flags & LS_FRAME_HOOKED));
	return attempt->is_done;
}
LS_STEP(try_layout);

/* No layout is to be kept: what the last one left in the scratch is nobody's stack. */
static __always_inline void discard(const struct ls_trial *trial)
{
	const struct ls_attempt *attempt = &trial->scratch->attempt;
	struct ls_sample *sample = &trial->scratch->sample;

	trial->thread->chain_count = 0;
	trial->thread->root.state = 0;
	sample->frame_count = 0;
	sample->state = 0;
	sample->vm = 0;
	sample->error = attempt->runs ? LS_WALK_UNDECIDED : LS_WALK_NO_SCRIPT;
	if (attempt->runs && !attempt->idle)
		sample->flags |= LS_SAMPLE_MISFIT;
}

/* The stack of this sample, under whichever of the target's layouts fits, into scratch->sample. */
static __always_inline void attempt_stack(struct ls_scratch *scratch, struct ls_thread *thread,
					  const struct ls_target *target)
{
	struct ls_trial trial = {.scratch = scratch, .thread = thread};
	struct ls_attempt *attempt = &scratch->attempt;
	struct ls_sample *sample = &scratch->sample;

	*attempt = (struct ls_attempt){
		.layouts = target->layouts,
		.decided = target->decided,
		.first = thread->layout,
		.best = LS_LAYOUT_MAX,
	};
	for (__u32 i = 0; i < LS_CODE_RANGES; i++)
		scratch->search.barren[LS_BARREN_RANGES - LS_CODE_RANGES + i] = target->code[i];
	repeat(LS_LAYOUT_MAX + 1, try_layout, &trial);
	sample->verified = !!attempt->fits;
	sample->other_layouts = attempt->fits & ~(1U << (sample->layout & 31));
	if (!attempt->is_done)
		thread->is_nested = !!sample->other_layouts;
	if (attempt->best >= LS_LAYOUT_MAX && !attempt->is_done)
		discard(&trial);
	else if (thread->is_nested && !sample->error)
		sample->error = LS_WALK_RESUMERS; /* the frames of the interpreter below it */
}

#endif
