/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict.h"
#include "layout_puc.h"
#include "walk_error.h"

void verdict__add(struct verdict *verdict, const struct ls_sample *sample)
{
	uint32_t layout = sample->layout % LS_LAYOUT_MAX;

	if (verdict->is_decided || layout >= layouts_puc_count)
		return;
	if (!sample->verified) {
		verdict->misfits += sample->error == LS_WALK_UNDECIDED;
		return;
	}
	verdict->fits[layout]++;
	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		verdict->fits[i] += sample->other_layouts >> i & 1;
	if (sample->other_layouts || (verdict->has_evidence && verdict->layout != layout))
		verdict->is_contradicted = 1;
	verdict->layout = layout;
	verdict->has_evidence = 1;
	verdict->is_decided = !verdict->is_contradicted && verdict->fits[layout] >= VERDICT_NEEDED;
}

void verdict__describe(const struct verdict *verdict, char *to, size_t size)
{
	size_t length = 0;

	if (!verdict->has_evidence) {
		snprintf(to, size, "undecided: no sample had script on its stack");
		return;
	}
	if (!verdict->is_contradicted) {
		snprintf(to, size, "%s, %s %" PRIu64 " of %" PRIu64 " samples",
			 layouts_puc[verdict->layout].name,
			 verdict->is_decided ? "agreed on by" : "provisionally, by",
			 verdict->fits[verdict->layout],
			 verdict->fits[verdict->layout] + verdict->misfits);
		return;
	}
	*to = '\0';
	for (size_t i = 0; i < layouts_puc_count && length < size; i++)
		if (verdict->fits[i])
			length +=
				snprintf(to + length, size - length, "%s%s: %" PRIu64,
					 length ? ", " : "", layouts_puc[i].name, verdict->fits[i]);
}
