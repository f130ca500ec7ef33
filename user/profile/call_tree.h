/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Aggregation: stacks become a tree of (parent, function) below named categories. Ids count from 1
 * and stay valid while the tree grows; a parent's id is lower than its children's.
 */
#ifndef LS_CALL_TREE_H
#define LS_CALL_TREE_H

#include <stdint.h>

#include "profile/profile.h"

struct call_tree;

/* NULL when out of memory. Free with call_tree__free(), which takes NULL. */
struct call_tree *call_tree__new(void);
void call_tree__free(struct call_tree *tree);

/*
 * Beyond this number of categories, all others of an owner become one with this name: thread names
 * are arbitrary.
 */
#define CALL_TREE_CATEGORIES_MAX 10000
#define CALL_TREE_OTHER          PROFILE_OTHER

/*
 * The node of the owner's category of that name, made on first use. `name` is copied. 0 when out of
 * memory. call_tree__category() is for trees that are not split by owner: it uses owner 0.
 */
uint32_t call_tree__category(struct call_tree *tree, const char *name);
uint32_t call_tree__category_of(struct call_tree *tree, uint32_t owner, const char *name);

/*
 * The node of `function` under `parent`, made on first use. 0 when out of memory or if `parent` is
 * 0, so one check at the end of a stack is enough.
 */
uint32_t call_tree__child(struct call_tree *tree, uint32_t parent, uint32_t function);

/* A node's parent and function; both are 0 for a category's node. */
uint32_t call_tree__parent(const struct call_tree *tree, uint32_t node);
uint32_t call_tree__function(const struct call_tree *tree, uint32_t node);

/* The number of nodes, which is the highest id. */
uint32_t call_tree__nodes(const struct call_tree *tree);

/* Counts one more sample that ended at `node`, taken by a timer with that period. */
void call_tree__count(struct call_tree *tree, uint32_t node, uint64_t period_ns);

/* Adds CPU time for which the node's samples stand, or for a category's node, lost samples. */
void call_tree__weigh(struct call_tree *tree, uint32_t node, uint64_t ns);

/* Charges CPU time to `node` itself. */
void call_tree__charge(struct call_tree *tree, uint32_t node, uint64_t ns);

/* Adds samples and time together, for trees that are made from other trees. */
void call_tree__add(struct call_tree *tree, uint32_t node, uint64_t samples, uint64_t ns);

/*
 * Points the profile's nodes and categories at the tree's own: valid until the tree is changed or
 * freed. Siblings come newest first.
 */
void call_tree__export(const struct call_tree *tree, struct ls_profile *profile);

#endif
