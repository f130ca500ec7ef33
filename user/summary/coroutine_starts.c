/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/coroutine_starts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text_list.h"

/* NULL: the node is no first function of a coroutine. */
static const struct ls_profile_function *start_of(const struct ls_profile *profile, uint32_t id)
{
	const struct ls_profile_node *node = &profile->nodes[id], *above;

	if (!node->parent)
		return NULL;
	above = &profile->nodes[node->parent];
	if (!above->function || !profile__starts_coroutine(&profile->functions[above->function]))
		return NULL;
	return &profile->functions[node->function];
}

/* As --coroutine takes it. */
static void add(const struct ls_profile_function *start, struct text_list *starts)
{
	char text[256];

	if (!start->source)
		return;
	if (start->name)
		snprintf(text, sizeof(text), "%.160s:%.80s", start->source, start->name);
	else
		snprintf(text, sizeof(text), "%.160s:%" PRIu32, start->source, start->line);
	text_list__add(starts, text);
}

void coroutine_starts__warn(const struct ls_profile *recorded, const struct patterns *globs)
{
	struct text_list starts = {};
	const char *there;

	if (!globs->count)
		return;
	for (uint32_t id = 1; id <= recorded->node_count; id++) {
		const struct ls_profile_function *start = start_of(recorded, id);

		/* Out of memory: as if it fitted. */
		if (start && patterns__fit(globs, start))
			return;
		if (start)
			add(start, &starts);
	}
	there = text_list__end(&starts);
	log_warn("no coroutine fits '--coroutine %s'%s: the first functions of coroutines %s%s",
		 globs->globs[0], globs->count > 1 ? " or another" : "", there ? "are " : "",
		 there ? there : "were not sampled");
}
