/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Aggregation: stacks become a tree of (parent, function) below named categories. Ids count from 1
 * and stay valid while the tree grows; a parent's id is lower than its children's.
 */
#ifndef LS_CALL_TREE_H
#define LS_CALL_TREE_H

#include <stdint.h>

#include "profile.h"

struct call_tree;

/* NULL when out of memory. Free with call_tree__free(), which takes NULL. */
struct call_tree *call_tree__new(void);
void call_tree__free(struct call_tree *tree);

/*
 * So many categories, then one of this name for all others of an owner: threads may be called
 * anything.
 */
#define CALL_TREE_CATEGORIES_MAX 10000
#define CALL_TREE_OTHER          "(other)"

/*
 * The node of the owner's category of that name, made at first sight. `name` is copied. 0 when out
 * of memory. The first is for trees that nobody splits: all is that of owner 0.
 */
uint32_t call_tree__category(struct call_tree *tree, const char *name);
uint32_t call_tree__category_of(struct call_tree *tree, uint32_t owner, const char *name);

/*
 * The node of `function` under `parent`, made at first sight. 0 when out of memory, and 0 under
 * parent 0: one check at the end of a stack is enough.
 */
uint32_t call_tree__child(struct call_tree *tree, uint32_t parent, uint32_t function);

/* Of a node; 0 for a category's. */
uint32_t call_tree__parent(const struct call_tree *tree, uint32_t node);
uint32_t call_tree__function(const struct call_tree *tree, uint32_t node);

/* How many nodes there are, the highest id. */
uint32_t call_tree__nodes(const struct call_tree *tree);

/* One more sample ended at `node`, of a timer with that period. */
void call_tree__count(struct call_tree *tree, uint32_t node, uint64_t period_ns);

/* The node's samples stand for so much more; a category's, which has none, are lost ones. */
void call_tree__weigh(struct call_tree *tree, uint32_t node, uint64_t ns);

/* Charges CPU time to `node` itself. */
void call_tree__charge(struct call_tree *tree, uint32_t node, uint64_t ns);

/* Samples and time at once, for trees that are made from other trees. */
void call_tree__add(struct call_tree *tree, uint32_t node, uint64_t samples, uint64_t ns);

/*
 * Points the profile's nodes and categories at the tree's own: valid until the tree is changed or
 * freed. Siblings come newest first.
 */
void call_tree__export(const struct call_tree *tree, struct ls_profile *profile);

#endif
