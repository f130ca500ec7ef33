/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/dump_internal.h"

#include <stdlib.h>

static uint16_t layouts_with_proof(const struct layout_vote *vote)
{
	uint16_t layouts = 0;

	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		layouts |= (uint16_t)((vote->fits[i] != 0) << i);
	return layouts;
}

void dump_internal__target(const struct dump_internal *internal, struct ls_image *target)
{
	detection__target(internal->detection, &internal->votes, target);
	for (size_t i = 0; i < internal->votes.count; i++) {
		const struct layout_vote *vote = &internal->votes.items[i];
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
		else if (internal->tries_all && !proven)
			candidates->layouts |= vote->family->distinct_layouts();
	}
	families__choose(target);
}

void dump_internal__free(struct dump_internal *internal)
{
	if (!internal)
		return;
	sampler__close(internal->sampler);
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (internal->walkers[id])
			families__get(id)->walker->free(internal->walkers[id]);
	stack_reader__free(internal->reader);
	detection__free(internal->detection);
	inspector__free(internal->inspector);
	free(internal);
}
