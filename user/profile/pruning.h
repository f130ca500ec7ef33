/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a call tree smaller, in as many steps as it takes, each of which leaves out more:
 *
 * - A function with too few samples at a line loses that line. A function with too few samples in
 *   all is replaced, wherever it was in a stack, by one that stands for all of these, "(other)":
 *   its callers call that instead, and its callees are below it.
 * - Calls with too few samples are removed: the functions at which their stacks ended are right
 *   below an "(other)" in place of the first removed call, however deep they were.
 * - Such functions are merged into that "(other)".
 *
 * The sums of samples and time are preserved, overall and below every node that stays. Until the
 * last step, so is each function's self time, and after the first step its total time, too.
 */
#ifndef LS_PRUNING_H
#define LS_PRUNING_H

#include <stdint.h>

#include "profile/call_tree.h"
#include "profile/profile.h"

struct pruning {
	uint32_t functions_most; /* how many may stay */
	uint32_t nodes_most;     /* likewise, not counting categories and "(other)" */
	uint32_t other;          /* the function that stands for the rest */
};

/*
 * *tree: the smaller tree. *nodes: by old id, the node that now has its samples and time. The
 * caller owns both. Sets used[id] of each function that a node of the new tree calls. 0 or -ENOMEM.
 *
 * Functions whose used[id] is already set stay, and so do those without a source. The latter's
 * nodes right below a category, which stand for stacks without script, stay, too.
 */
int pruning__run(const struct pruning *pruning, const struct ls_profile *profile,
		 struct call_tree **tree, uint32_t **nodes, uint8_t *used);

/* The number of samples that end at or below nodes of `other`; when out of memory, only at them. */
uint64_t pruning__samples(const struct ls_profile *profile, uint32_t other);

#endif
