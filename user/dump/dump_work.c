/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/dump_work.h"

#include <stdlib.h>

static uint16_t layouts_with_proof(const struct layout_vote *vote)
{
	uint16_t layouts = 0;

	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		layouts |= (uint16_t)((vote->fits[i] != 0) << i);
	return layouts;
}

void dump_work__target(const struct dump_work *work, struct ls_image *target)
{
	detection__target(work->detection, &work->votes, target);
	for (size_t i = 0; i < work->votes.count; i++) {
		const struct layout_vote *vote = &work->votes.items[i];
		uint16_t proven = layouts_with_proof(vote);
		uint32_t interpreters = vote->interpreters ? vote->interpreters : 1;
		struct ls_candidates *candidates = &target->candidates[vote->family->id];

		if (vote->is_forced)
			continue;
		candidates->decided |= proven;
		candidates->layouts |= proven;
		if ((uint32_t)__builtin_popcount(proven) >= interpreters)
			candidates->layouts &=
				(uint16_t) ~(vote->candidates & ~candidates->decided);
		else if (work->tries_all && !proven)
			candidates->layouts |= vote->family->distinct_layouts();
	}
	families__choose(target);
}

void dump_work__free(struct dump_work *work)
{
	if (!work)
		return;
	sampler__close(work->sampler);
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (work->walkers[id])
			families__get(id)->walker->free(work->walkers[id]);
	stack_reader__free(work->reader);
	detection__free(work->detection);
	inspector__free(work->inspector);
	free(work);
}
