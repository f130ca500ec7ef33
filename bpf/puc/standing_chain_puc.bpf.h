/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which part of the last sample's chain of active states still holds in this sample.
 *
 * A resumer keeps a valid errorJmp while its child runs, so an active state need not be the running
 * one. But who resumed whom below a state cannot change unless that state's call or errorJmp
 * changes. So the part of the chain that still holds is reused, from the root on, and only deeper
 * states are searched for.
 */
#ifndef LS_STANDING_CHAIN_PUC_BPF_H
#define LS_STANDING_CHAIN_PUC_BPF_H

#include "puc/find_state_puc.bpf.h"

struct ls_recall {
	struct ls_scratch *scratch;
	const struct ls_puc_layout *layout;
	const struct ls_thread *thread;
};

/* Checks one link of the last sample's chain, from the root. 1: the links after it may differ. */
static long recall_active(__u32 i, void *context)
{
	struct ls_recall *recall = context;
	struct ls_scratch *scratch = recall->scratch;
	const struct ls_puc_layout *layout = recall->layout;
	__u32 at = (recall->thread->chain_count - 1 - i) % LS_CHAIN_MAX;
	const struct ls_active *active = &recall->thread->chain[at];
	__u64 error_jump, ci;

	scratch->state_address = 0;
	if (read_state(layout, active->state, scratch->state))
		return 1;
	scratch->state_address = active->state;
	error_jump = ls_word(scratch->state, layout->state_error_jump);
	ci = ls_word(scratch->state, layout->state_ci);
	if (active->anchor == LS_UNPROTECTED) {
		if (error_jump || (at && ci != active->ci))
			return 1;
	} else if (error_jump != active->anchor || !on_stack(scratch, error_jump)) {
		return 1;
	}
	scratch->chain[at] = *active;
	scratch->chain[at].ci = ci;
	scratch->search.standing++;
	return ci != active->ci;
}
LS_STEP(recall_active);

/* Moves a link that still holds to the start of the chain, over those that do not. */
static long close_gap(__u32 i, void *context)
{
	const struct ls_recall *recall = context;
	struct ls_active *chain = recall->scratch->chain;
	__u32 gap = recall->thread->chain_count - recall->scratch->search.standing;

	chain[i % LS_CHAIN_MAX] = chain[(i + gap) % LS_CHAIN_MAX];
	return 0;
}
LS_STEP(close_gap);

/*
 * Reuses the part of the last sample's chain that has not changed: the root and the states that it
 * led to, as long as each has the same errorJmp and each resumer is still in the same call. It is
 * the outer part of this sample's chain, and all of it if its innermost link runs alone.
 * The caller must rule out that this link has resumed another state: only a hook or a C function
 * that is not of Lua's own library can have done so. Returns the number of links that hold. A main
 * thread without errorJmp does not hold alone, nor does a part of the chain if the mapping may hold
 * other stacks. Leaves the copy of a state in scratch->state.
 */
__noinline int chain_stands(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
			    struct ls_thread *thread)
{
	struct ls_recall recall = {.scratch = scratch, .layout = layout, .thread = thread};
	__u32 count;

	if (!scratch || !layout || !thread)
		return 0;
	count = thread->chain_count;
	if (!count || count > LS_CHAIN_MAX)
		return 0;
	scratch->search.standing = 0;
	repeat(count, recall_active, &recall);
	if (scratch->search.standing < count) {
		repeat(scratch->search.standing, close_gap, &recall);
		if (scratch->chain[0].anchor == LS_UNPROTECTED || scratch->search.is_shared)
			return 0;
	}
	scratch->chain_count = scratch->search.standing;
	return scratch->chain_count;
}

static long note_standing(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;

	note_state(&scratch->search, scratch->chain[i % LS_CHAIN_MAX].state);
	return 0;
}
LS_STEP(note_standing);

/* Adds states that registers point to and that are deeper than the reused chain. */
static __always_inline void search_registers(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	repeat(scratch->chain_count, note_standing, &pass);
	scan_registers(scratch, layout);
}

/*
 * Adds deeper states that are found between the current address of the search and the reused chain,
 * which begins at `end`. Returns LS_WALK_NONE, or LS_WALK_STATE_BEYOND if that distance is too
 * large to search.
 */
static __always_inline int search_below(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout, __u64 end)
{
	scan_stack(scratch, layout, end == LS_UNPROTECTED ? scratch->search.high : end,
		   LS_CHUNKS_MAX);
	return end != LS_UNPROTECTED && !scratch->search.is_cut && scratch->search.address < end
		       ? LS_WALK_STATE_BEYOND
		       : LS_WALK_NONE;
}

#endif
