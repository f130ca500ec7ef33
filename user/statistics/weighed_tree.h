/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A call tree with the CPU time that its samples stand for, kept apart from the profile. */
#ifndef LS_WEIGHED_TREE_H
#define LS_WEIGHED_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "statistics/known_functions.h"

struct weighed_node {
	uint32_t parent;   /* 0: a category */
	uint32_t function; /* known_functions__whole(); 0: a category, or not known yet */
	uint32_t first_child, next_sibling;
	uint64_t self_ns;
	uint64_t total_ns; /* of the node and all below it; gc_ns likewise */
	uint64_t gc_ns;    /* of that, in the garbage collector */
};

struct weighed_tree {
	struct weighed_node *nodes; /* by id; a parent's is lower than its children's */
	uint32_t node_count;
	uint32_t *categories; /* nodes, in the order of the profile's categories */
	uint32_t category_count;
};

/*
 * Copies the profile's tree. Functions that have come since the last update are not known yet. 0 or
 * -ENOMEM: then the tree is empty. weighed_tree__free() leaves an empty tree.
 */
int weighed_tree__make(struct weighed_tree *tree, const struct ls_profile *profile,
		       const struct known_functions *known);
void weighed_tree__free(struct weighed_tree *tree);

static inline bool weighed_tree__is_empty(const struct weighed_tree *tree)
{
	return !tree->nodes;
}

/* Functions whose ids have been reused since the previous update become "(other)". */
void weighed_tree__follow_ids(struct weighed_tree *tree, const struct known_functions *known);

#endif
