/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/recording_internal.h"

/*
 * Copies the nodes that `used` marks, and their ancestors, to `tree`; nodes[] gets their new ids. 0
 * or -ENOMEM.
 */
static int replant(const struct ls_profile *old, uint8_t *used, struct call_tree *tree,
		   uint32_t *nodes)
{
	for (uint32_t node = old->node_count; node; node--)
		if (used[node])
			used[old->nodes[node].parent] = 1;
	for (uint32_t i = 0; i < old->category_count; i++) {
		const struct ls_profile_category *category = &old->categories[i];

		if (!used[category->node])
			continue;
		nodes[category->node] =
			call_tree__category_of(tree, category->owner, category->name);
		if (!nodes[category->node])
			return -ENOMEM;
	}
	for (uint32_t node = 1; node <= old->node_count; node++) {
		const struct ls_profile_node *from = &old->nodes[node];

		if (!used[node] || !from->parent)
			continue;
		nodes[node] = call_tree__child(tree, nodes[from->parent], from->function);
		if (!nodes[node])
			return -ENOMEM;
	}
	return 0;
}

static void adopt(struct recording *recording, struct call_tree *tree, const uint32_t *nodes)
{
	last_stacks__forget_all(&recording->stacks);
	for (struct recorded_process *process = recording->processes; process;
	     process = process->hh.next)
		cpu_time__renumber(process->time, nodes);
	call_tree__free(recording->tree);
	recording->tree = tree;
}

/*
 * Forgets functions of ended programs, which are in no profile any more: a service runs for months.
 */
static void forget_functions(struct recording *recording)
{
	uint8_t *used = calloc(functions__highest(recording->functions) + 1, sizeof(*used));
	struct ls_profile profile = {};

	/* It can wait for another time: their number is bounded. */
	if (!used)
		return;
	call_tree__export(recording->tree, &profile);
	for (uint32_t node = 1; node <= profile.node_count; node++)
		used[profile.nodes[node].function] = 1;
	used[recording->gc] = 1;
	for (struct recorded_process *process = recording->processes; process;
	     process = process->hh.next)
		symbolizer__mark(process->symbolizer, used);
	functions__evict(recording->functions, used);
	free(used);
}

static void zero_counts(struct recording *recording)
{
	memset(recording->classes, 0, sizeof(recording->classes));
	memset(recording->errors, 0, sizeof(recording->errors));
	recording->collected = 0;
	recording->unknown_lines = 0;
	recording->unkept_lines = 0;
	recording->unsampled_ns = 0;
	recording->evicted = 0;
	recording->strangers = 0;
	/*
	 * Only of ended programs: those of running ones may still get names, and are counted later.
	 */
	recording->unnamed_calls = 0;
}

static void restart_subprofiles(struct recording *recording)
{
	struct ls_profile begun = {};

	if (!recording->subprofiles)
		return;
	call_tree__export(recording->tree, &begun);
	subprofiles__restart(recording->subprofiles, &begun);
}

int recording__restart(struct recording *recording)
{
	uint32_t count = call_tree__nodes(recording->tree);
	uint32_t *nodes = calloc(count + 1, sizeof(*nodes));
	uint8_t *used = calloc(count + 1, sizeof(*used));
	struct call_tree *tree = call_tree__new();
	struct timeline *timeline = recording->timeline ? timeline__new(TIMELINE_MOST) : NULL;
	struct ls_profile old = {};
	int error = -ENOMEM;

	if (!nodes || !used || !tree || (recording->timeline && !timeline))
		goto cleanup;
	for (struct recorded_process *process = recording->processes; process;
	     process = process->hh.next)
		cpu_time__mark(process->time, used);
	call_tree__export(recording->tree, &old);
	error = replant(&old, used, tree, nodes);
	if (error)
		goto cleanup;
	adopt(recording, tree, nodes);
	tree = NULL;
	forget_functions(recording);
	timeline__free(recording->timeline);
	recording->timeline = timeline;
	timeline = NULL;
	zero_counts(recording);
	restart_subprofiles(recording);
cleanup:
	timeline__free(timeline);
	call_tree__free(tree);
	free(used);
	free(nodes);
	return error;
}
