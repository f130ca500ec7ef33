/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "profile/totals.h"

#define NS_PER_US 1000

/* The remainder of rounding down is carried over to the next node, so that nothing is lost. */
static void take_self(const struct ls_profile *profile, struct ls_totals *totals)
{
	uint64_t left_ns = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];
		uint64_t self_us = node->self_ns / NS_PER_US;

		left_ns += node->self_ns % NS_PER_US;
		self_us += left_ns / NS_PER_US;
		left_ns %= NS_PER_US;
		totals->node_total_us[id] = self_us;
		if (node->function)
			totals->function_self_us[node->function] += self_us;
	}
}

/*
 * Divides a function's rounded self time among its lines in proportion to their ns, of `all_ns`;
 * the rest was spent on unknown lines. Each share is a difference of running sums, so they add up.
 */
static void share_among_lines(const struct ls_profile *profile, uint32_t id, uint64_t all_ns,
			      struct ls_totals *totals)
{
	const struct ls_profile_function *function = &profile->functions[id];
	uint64_t sum_ns = 0, shared_us = 0;

	for (uint32_t i = 0; i < function->line_count && all_ns; i++) {
		uint32_t at = function->first_line + i;
		uint64_t so_far;

		sum_ns += profile->lines[at].self_ns;
		so_far = (uint64_t)((unsigned __int128)totals->function_self_us[id] * sum_ns /
				    all_ns);
		totals->line_self_us[at] = so_far - shared_us;
		shared_us = so_far;
	}
}

static int take_lines(const struct ls_profile *profile, struct ls_totals *totals)
{
	uint64_t *all_ns;

	if (!profile->line_count)
		return 0;
	all_ns = calloc((size_t)profile->function_count + 1, sizeof(*all_ns));
	if (!all_ns)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->node_count; id++)
		all_ns[profile->nodes[id].function] += profile->nodes[id].self_ns;
	for (uint32_t id = 1; id <= profile->function_count; id++)
		share_among_lines(profile, id, all_ns[id], totals);
	free(all_ns);
	return 0;
}

/* Parents have lower ids: in descending order, a node is complete when reached. */
static void add_children(const struct ls_profile *profile, struct ls_totals *totals)
{
	for (uint32_t id = profile->node_count; id; id--) {
		uint32_t parent = profile->nodes[id].parent;

		if (parent)
			totals->node_total_us[parent] += totals->node_total_us[id];
		else
			totals->all_us += totals->node_total_us[id];
	}
}

/* Leaves `id`, and ancestors with no further child. Returns the next node; 0: end of the tree. */
static uint32_t leave(const struct ls_profile *profile, uint32_t root, uint32_t id, uint32_t *open)
{
	while (id != root) {
		const struct ls_profile_node *node = &profile->nodes[id];

		open[node->function]--;
		if (node->next_sibling)
			return node->next_sibling;
		id = node->parent;
	}
	return 0;
}

/*
 * `open` counts how often each function is on the path from the root. Only the outermost call
 * counts: its total includes those of the inner ones.
 */
static void add_functions(const struct ls_profile *profile, uint32_t root, uint32_t *open,
			  struct ls_totals *totals)
{
	uint32_t id = profile->nodes[root].first_child;

	while (id) {
		const struct ls_profile_node *node = &profile->nodes[id];

		if (!open[node->function]++ && node->function)
			totals->function_total_us[node->function] += totals->node_total_us[id];
		id = node->first_child ? node->first_child : leave(profile, root, id, open);
	}
}

int totals__compute(const struct ls_profile *profile, struct ls_totals *totals)
{
	size_t nodes = (size_t)profile->node_count + 1;
	size_t functions = (size_t)profile->function_count + 1;
	uint32_t *open = calloc(functions, sizeof(*open));

	*totals = (struct ls_totals){
		.node_total_us = calloc(nodes, sizeof(uint64_t)),
		.function_total_us = calloc(functions, sizeof(uint64_t)),
		.function_self_us = calloc(functions, sizeof(uint64_t)),
		.line_self_us = calloc((size_t)profile->line_count + 1, sizeof(uint64_t)),
	};
	if (!open || !totals->node_total_us || !totals->function_total_us ||
	    !totals->function_self_us || !totals->line_self_us)
		goto fail;
	take_self(profile, totals);
	if (take_lines(profile, totals))
		goto fail;
	add_children(profile, totals);
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		if (!profile->nodes[id].parent)
			add_functions(profile, id, open, totals);
	}
	free(open);
	return 0;
fail:
	free(open);
	totals__free(totals);
	return -ENOMEM;
}

uint64_t totals__node_self_us(const struct ls_profile *profile, const struct ls_totals *totals,
			      uint32_t node)
{
	uint32_t child = profile->nodes[node].first_child;
	uint64_t us = totals->node_total_us[node];

	for (; child; child = profile->nodes[child].next_sibling)
		us -= totals->node_total_us[child];
	return us;
}

void totals__free(struct ls_totals *totals)
{
	free(totals->node_total_us);
	free(totals->function_total_us);
	free(totals->function_self_us);
	free(totals->line_self_us);
	*totals = (struct ls_totals){0};
}
