/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "statistics/weighed_tree.h"

#include <errno.h>
#include <stdlib.h>

/* By id of the profile: the whole function, or 0. NULL when out of memory. */
static uint32_t *find_functions(const struct ls_profile *profile,
				const struct known_functions *known)
{
	uint32_t *whole = calloc((size_t)profile->function_count + 1, sizeof(*whole));

	for (uint32_t id = 1; whole && id <= profile->function_count; id++) {
		uint32_t function = known_functions__whole(profile, id);

		whole[id] = known_functions__is_same(known, profile, function) ? function : 0;
	}
	return whole;
}

static void fill(struct weighed_tree *tree, const struct ls_profile *profile,
		 const struct known_functions *known, const uint32_t *whole)
{
	/* Parents have lower ids: in descending order, a node is complete when reached. */
	for (uint32_t id = profile->node_count; id; id--) {
		const struct ls_profile_node *from = &profile->nodes[id];
		struct weighed_node *node = &tree->nodes[id];
		struct weighed_node *parent = &tree->nodes[from->parent];

		node->parent = from->parent;
		node->function = whole[from->function];
		node->first_child = from->first_child;
		node->next_sibling = from->next_sibling;
		node->self_ns = from->weight_ns;
		node->total_ns += from->weight_ns;
		if (known->by_id[node->function].part == SCRIPT_GC)
			node->gc_ns = node->total_ns;
		parent->total_ns += node->total_ns;
		parent->gc_ns += node->gc_ns;
	}
	for (uint32_t i = 0; i < profile->category_count; i++)
		tree->categories[i] = profile->categories[i].node;
}

int weighed_tree__make(struct weighed_tree *tree, const struct ls_profile *profile,
		       const struct known_functions *known)
{
	uint32_t *whole = find_functions(profile, known);

	*tree = (struct weighed_tree){
		.nodes = calloc((size_t)profile->node_count + 1, sizeof(*tree->nodes)),
		.node_count = profile->node_count,
		.categories =
			calloc((size_t)profile->category_count + 1, sizeof(*tree->categories)),
		.category_count = profile->category_count,
	};
	if (!whole || !tree->nodes || !tree->categories) {
		free(whole);
		weighed_tree__free(tree);
		return -ENOMEM;
	}
	fill(tree, profile, known, whole);
	free(whole);
	return 0;
}

void weighed_tree__free(struct weighed_tree *tree)
{
	free(tree->nodes);
	free(tree->categories);
	*tree = (struct weighed_tree){0};
}

void weighed_tree__follow_ids(struct weighed_tree *tree, const struct known_functions *known)
{
	for (uint32_t id = 1; id <= tree->node_count; id++) {
		struct weighed_node *node = &tree->nodes[id];

		if (known->by_id[node->function].has_changed)
			node->function = known->other;
	}
}
