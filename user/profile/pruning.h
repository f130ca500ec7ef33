/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a call tree smaller, in steps of which each leaves more out, as many as it takes:
 *
 * - Functions that were seen too seldom at a line are at no line; those that were so altogether
 *   become one that stands for all of them, "(other)", in the place that each had: who called them
 *   did, and what they called is below.
 * - Calls that were seen too seldom leave the tree: what ran at their end is right below an
 *   "(other)" where the first of them was made, however deep it was.
 * - Such calls become that "(other)" themselves.
 *
 * Sums stay what they were: samples and time, in all and below every node that stays; until the
 * last step what each function took itself, and after the first also what it took with its callees.
 */
#ifndef LS_PRUNING_H
#define LS_PRUNING_H

#include <stdint.h>

#include "call_tree.h"
#include "profile.h"

struct pruning {
	uint32_t functions_most; /* that stay */
	uint32_t nodes_most;     /* that the tree has then, categories and "(other)" not counted */
	uint32_t other;          /* the function that stands for the rest */
};

/*
 * *tree: the smaller one. *nodes: by old id the node that has its samples and time now. Both are
 * the caller's. Sets used[id] of each function that a node of it calls. 0 or -ENOMEM.
 *
 * Functions whose used[id] is set before stay, and those without a source; right below a category
 * also the nodes of the latter, which stand for what is no script.
 */
int pruning__run(const struct pruning *pruning, const struct ls_profile *profile,
		 struct call_tree **tree, uint32_t **nodes, uint8_t *used);

/* How many samples end at nodes of `other` or below; out of memory, those right there. */
uint64_t pruning__samples(const struct ls_profile *profile, uint32_t other);

#endif
