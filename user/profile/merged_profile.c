/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "merged_profile.h"

#define USED UINT32_MAX /* a node that has no new id yet */

struct merged_profile {
	struct ls_profile profile;
	struct ls_profile_function *functions;
	struct call_tree *tree;
};

/* What only the merging itself needs. Maps are indexed by the old ids. */
struct merging {
	const struct ls_profile *from;
	uint32_t *nodes;     /* to the new node; 0: nothing to see there */
	uint32_t *functions; /* to the new function; 0: no node uses it */
	const struct ls_profile_function **sorted;
};

static int compare_strings(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static int compare_looks(const struct ls_profile_function *a, const struct ls_profile_function *b)
{
	int order = compare_strings(a->source, b->source);

	if (!order)
		order = compare_strings(a->name, b->name);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = (a->flags > b->flags) - (a->flags < b->flags);
	return order;
}

/* Lookalikes stand side by side, the lowest id first. */
static int compare_functions(const void *left, const void *right)
{
	const struct ls_profile_function *a = *(const struct ls_profile_function *const *)left;
	const struct ls_profile_function *b = *(const struct ls_profile_function *const *)right;
	int order = compare_looks(a, b);

	return order ? order : (a > b) - (a < b);
}

static bool is_sound(const struct ls_profile *from)
{
	for (uint32_t id = 1; id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (node->parent >= id || node->function > from->function_count)
			return false;
	}
	for (uint32_t i = 0; i < from->category_count; i++) {
		uint32_t id = from->categories[i].node;

		if (!id || id > from->node_count || from->nodes[id].parent)
			return false;
	}
	return true;
}

static int start_merging(struct merging *merging, const struct ls_profile *from)
{
	merging->from = from;
	merging->nodes = calloc((size_t)from->node_count + 1, sizeof(*merging->nodes));
	merging->functions = calloc((size_t)from->function_count + 1, sizeof(*merging->functions));
	merging->sorted = calloc((size_t)from->function_count + 1, sizeof(*merging->sorted));
	return merging->nodes && merging->functions && merging->sorted ? 0 : -ENOMEM;
}

static void end_merging(struct merging *merging)
{
	free(merging->nodes);
	free(merging->functions);
	free(merging->sorted);
}

/* From the leaves up, so that one pass does for trees of any depth. */
static void mark_used(struct merging *merging)
{
	const struct ls_profile *from = merging->from;

	for (uint32_t id = from->node_count; id; id--) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (!merging->nodes[id] && !node->samples && !node->self_ns)
			continue;
		merging->nodes[id] = USED;
		merging->nodes[node->parent] = USED;
		merging->functions[node->function] = node->function;
	}
}

/* Points lookalikes at the lowest id among them. */
static void find_lookalikes(struct merging *merging)
{
	const struct ls_profile_function *functions = merging->from->functions;
	const struct ls_profile_function *first = NULL;
	size_t count = 0;

	for (uint32_t id = 1; id <= merging->from->function_count; id++) {
		if (merging->functions[id])
			merging->sorted[count++] = &functions[id];
	}
	qsort(merging->sorted, count, sizeof(*merging->sorted), compare_functions);
	for (size_t i = 0; i < count; i++) {
		const struct ls_profile_function *function = merging->sorted[i];

		if (!first || compare_looks(first, function))
			first = function;
		merging->functions[function - functions] = (uint32_t)(first - functions);
	}
}

/* In the order of the old ids: the first of some lookalikes has its new id before the others. */
static int merge_functions(struct merging *merging, struct merged_profile *merged)
{
	const struct ls_profile *from = merging->from;
	uint32_t count = 0;

	find_lookalikes(merging);
	merged->functions = calloc((size_t)from->function_count + 1, sizeof(*merged->functions));
	if (!merged->functions)
		return -ENOMEM;
	for (uint32_t id = 1; id <= from->function_count; id++) {
		uint32_t first = merging->functions[id];

		if (first == id) {
			merged->functions[++count] = from->functions[id];
			merging->functions[id] = count;
		} else if (first) {
			merging->functions[id] = merging->functions[first];
		}
	}
	merged->profile.functions = merged->functions;
	merged->profile.function_count = count;
	return 0;
}

static int merge_categories(struct merging *merging, struct call_tree *tree)
{
	for (uint32_t i = 0; i < merging->from->category_count; i++) {
		const struct ls_profile_category *category = &merging->from->categories[i];
		uint32_t *node = &merging->nodes[category->node];

		if (!*node)
			continue;
		if (*node != USED)
			return -EINVAL;
		*node = call_tree__category(tree, category->name);
		if (!*node)
			return -ENOMEM;
	}
	return 0;
}

static int merge_nodes(struct merging *merging, struct call_tree *tree)
{
	const struct ls_profile *from = merging->from;
	int err = merge_categories(merging, tree);

	for (uint32_t id = 1; !err && id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (!merging->nodes[id])
			continue;
		if (node->parent)
			merging->nodes[id] = call_tree__child(tree, merging->nodes[node->parent],
							      merging->functions[node->function]);
		if (!merging->nodes[id])
			err = -ENOMEM;
		else if (merging->nodes[id] == USED)
			err = -EINVAL;
		else
			call_tree__add(tree, merging->nodes[id], node->samples, node->self_ns);
	}
	return err;
}

int merged_profile__new(const struct ls_profile *from, struct merged_profile **merged)
{
	struct merging merging = {0};
	struct merged_profile *made = NULL;
	int err = -EINVAL;

	*merged = NULL;
	if (!is_sound(from))
		goto cleanup;
	err = -ENOMEM;
	made = calloc(1, sizeof(*made));
	if (!made)
		goto cleanup;
	made->tree = call_tree__new();
	if (!made->tree)
		goto cleanup;
	err = start_merging(&merging, from);
	if (err)
		goto cleanup;
	mark_used(&merging);
	err = merge_functions(&merging, made);
	if (err)
		goto cleanup;
	err = merge_nodes(&merging, made->tree);
	if (err)
		goto cleanup;
	made->profile.recorder = from->recorder;
	call_tree__export(made->tree, &made->profile);
	*merged = made;
	made = NULL;
cleanup:
	end_merging(&merging);
	merged_profile__free(made);
	return err;
}

void merged_profile__free(struct merged_profile *merged)
{
	if (!merged)
		return;
	call_tree__free(merged->tree);
	free(merged->functions);
	free(merged);
}

const struct ls_profile *merged_profile__profile(const struct merged_profile *merged)
{
	return &merged->profile;
}
