/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/pruning.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum what { MERGE_FUNCTIONS, FLATTEN_CALLS, DROP_CALLS };

/* Only 1/`part` of the nodes that the tree may have stay: each may get an "(other)" and more. */
static const struct step {
	enum what what;
	uint32_t part;
} steps[] = {
	{MERGE_FUNCTIONS, 1},
	{FLATTEN_CALLS, 4},
	{FLATTEN_CALLS, 64},
	{DROP_CALLS, 2},
};

/* One step, from `from` to `tree`. */
struct work {
	const struct pruning *pruning;
	const uint8_t *used; /* by function: stays in any case */
	struct step step;
	struct ls_profile from;
	struct call_tree *tree;
	uint64_t *hits;        /* by old node: samples that ended there or below */
	uint64_t *by_function; /* likewise of all nodes of a function, recursion counted once */
	uint32_t *open;        /* by function: how often it is on the path */
	uint32_t *nodes;       /* by old node: the new one */
	uint32_t *edges; /* by old node: the "(other)" at or below which it went; 0: it stayed */
	uint64_t least;  /* whatever has no more samples than this goes */
};

static void end_work(struct work *work)
{
	call_tree__free(work->tree);
	free(work->hits);
	free(work->by_function);
	free(work->open);
	free(work->nodes);
	free(work->edges);
	*work = (struct work){.tree = NULL};
}

static int start_work(struct work *work, const struct pruning *pruning, const uint8_t *used,
		      struct step step, const struct ls_profile *from)
{
	size_t nodes = (size_t)from->node_count + 1, functions = (size_t)from->function_count + 1;

	*work = (struct work){
		.pruning = pruning,
		.used = used,
		.step = step,
		.from = *from,
		.tree = call_tree__new(),
		.hits = calloc(nodes, sizeof(*work->hits)),
		.by_function = calloc(functions, sizeof(*work->by_function)),
		.open = calloc(functions, sizeof(*work->open)),
		.nodes = calloc(nodes, sizeof(*work->nodes)),
		.edges = calloc(nodes, sizeof(*work->edges)),
	};
	if (work->tree && work->hits && work->by_function && work->open && work->nodes &&
	    work->edges)
		return 0;
	end_work(work);
	return -ENOMEM;
}

/* Parents have lower ids: in descending order, a node is complete when reached. */
static void count_nodes(struct work *work)
{
	for (uint32_t id = work->from.node_count; id; id--) {
		const struct ls_profile_node *node = &work->from.nodes[id];

		work->hits[id] += node->samples;
		work->hits[node->parent] += work->hits[id];
	}
}

/* The function's entry without a line; 0: none. */
static uint32_t plain_function(const struct work *work, uint32_t function)
{
	return work->from.functions[function].function;
}

/* The next node in pre-order, 0 at the end; leaves ancestors with no further child. */
static uint32_t next_node(struct work *work, uint32_t root, uint32_t id)
{
	const struct ls_profile_node *nodes = work->from.nodes;

	if (nodes[id].first_child)
		return nodes[id].first_child;
	while (id != root) {
		work->open[nodes[id].function]--;
		work->open[plain_function(work, nodes[id].function)]--;
		if (nodes[id].next_sibling)
			return nodes[id].next_sibling;
		id = nodes[id].parent;
	}
	return 0;
}

static void count_functions(struct work *work)
{
	for (uint32_t i = 0; i < work->from.category_count; i++) {
		uint32_t root = work->from.categories[i].node, id = root;

		while ((id = next_node(work, root, id))) {
			uint32_t function = work->from.nodes[id].function;
			uint32_t plain = plain_function(work, function);

			if (!work->open[function]++)
				work->by_function[function] += work->hits[id];
			if (!work->open[plain]++)
				work->by_function[plain] += work->hits[id];
		}
	}
}

/* The first threshold that leaves no more than `most`; each try is a quarter higher. */
static uint64_t find_least(const uint64_t *counts, uint32_t highest, uint32_t most)
{
	for (uint64_t least = 0;; least += 1 + least / 4) {
		uint32_t count = 0;

		for (uint32_t id = 1; id <= highest; id++)
			count += counts[id] > least;
		if (count <= most)
			return least;
	}
}

static bool is_other(const struct work *work, uint32_t new_node)
{
	return call_tree__function(work->tree, new_node) == work->pruning->other;
}

static bool goes(const struct work *work, uint32_t function)
{
	return !work->used[function] && work->from.functions[function].source &&
	       work->by_function[function] <= work->least;
}

/*
 * A function that is too rare only at that line loses the line; consecutive functions that go
 * become a single "(other)".
 */
static uint32_t merge_function(const struct work *work, const struct ls_profile_node *node)
{
	uint32_t parent = work->nodes[node->parent], function = node->function;

	if (goes(work, function) && plain_function(work, function))
		function = plain_function(work, function);
	if (goes(work, function))
		function = work->pruning->other;
	if (function == work->pruning->other && is_other(work, parent))
		return parent;
	return call_tree__child(work->tree, parent, function);
}

static bool stays(const struct work *work, uint32_t id)
{
	const struct ls_profile_node *node = &work->from.nodes[id];

	if (work->edges[node->parent])
		return false;
	if (!work->from.nodes[node->parent].parent && !work->from.functions[node->function].source)
		return true;
	return work->hits[id] > work->least;
}

/*
 * A call that goes is moved to the "(other)" of the first caller that went. It becomes part of that
 * if no sample ended at it, if it is an "(other)" itself, or in DROP_CALLS; else it is a child.
 */
static uint32_t move_call(struct work *work, uint32_t id)
{
	const struct ls_profile_node *node = &work->from.nodes[id];
	uint32_t parent = work->nodes[node->parent], edge = work->edges[node->parent];

	if (stays(work, id))
		return call_tree__child(work->tree, parent, node->function);
	if (!edge)
		edge = is_other(work, parent)
			       ? parent
			       : call_tree__child(work->tree, parent, work->pruning->other);
	work->edges[id] = edge;
	if (!edge || work->step.what == DROP_CALLS || !node->samples ||
	    node->function == work->pruning->other)
		return edge;
	return call_tree__child(work->tree, edge, node->function);
}

static int copy_tree(struct work *work)
{
	for (uint32_t i = 0; i < work->from.category_count; i++) {
		const struct ls_profile_category *category = &work->from.categories[i];

		work->nodes[category->node] =
			call_tree__category_of(work->tree, category->owner, category->name);
	}
	for (uint32_t id = 1; id <= work->from.node_count; id++) {
		const struct ls_profile_node *node = &work->from.nodes[id];

		if (node->parent)
			work->nodes[id] = work->step.what == MERGE_FUNCTIONS
						  ? merge_function(work, node)
						  : move_call(work, id);
		if (!work->nodes[id])
			return -ENOMEM;
		call_tree__add(work->tree, work->nodes[id], node->samples, node->self_ns);
		call_tree__weigh(work->tree, work->nodes[id], node->weight_ns);
	}
	return 0;
}

static int take_step(struct work *work)
{
	count_nodes(work);
	if (work->step.what == MERGE_FUNCTIONS) {
		count_functions(work);
		work->least = find_least(work->by_function, work->from.function_count,
					 work->pruning->functions_most);
	} else {
		uint32_t most = work->pruning->nodes_most;

		/* A tree that is small enough after the first step stays as it is. */
		if (work->from.node_count > most)
			most /= work->step.part;
		work->least = find_least(work->hits, work->from.node_count, most);
	}
	return copy_tree(work);
}

/*
 * Runs the first step, then on its result each other step, until one makes the tree small enough or
 * the last one was run.
 */
static int take_steps(struct work *work, const struct pruning *pruning, const uint8_t *used,
		      const struct ls_profile *profile, struct work *merged)
{
	struct ls_profile from = *profile;
	int error = start_work(merged, pruning, used, steps[0], profile);

	if (!error)
		error = take_step(merged);
	if (error)
		return error;
	call_tree__export(merged->tree, &from);
	for (size_t i = 1; i < sizeof(steps) / sizeof(*steps); i++) {
		end_work(work);
		error = start_work(work, pruning, used, steps[i], &from);
		if (!error)
			error = take_step(work);
		if (error || call_tree__nodes(work->tree) <= pruning->nodes_most)
			break;
	}
	return error;
}

/* Hands over the tree of `work`, with old nodes mapped through `merged` and then `work`. */
static void take_over(struct work *work, const struct work *merged, struct call_tree **tree,
		      uint32_t **nodes)
{
	*tree = work->tree;
	work->tree = NULL;
	*nodes = merged->nodes;
	for (uint32_t id = 1; id <= merged->from.node_count; id++)
		(*nodes)[id] = work->nodes[(*nodes)[id]];
}

int pruning__run(const struct pruning *pruning, const struct ls_profile *profile,
		 struct call_tree **tree, uint32_t **nodes, uint8_t *used)
{
	struct work merged = {.tree = NULL}, work = {.tree = NULL};
	int error = take_steps(&work, pruning, used, profile, &merged);

	*tree = NULL;
	*nodes = NULL;
	if (!error) {
		take_over(&work, &merged, tree, nodes);
		merged.nodes = NULL;
		for (uint32_t id = 1; id <= call_tree__nodes(*tree); id++)
			used[call_tree__function(*tree, id)] = 1;
	}
	end_work(&merged);
	end_work(&work);
	return error;
}

uint64_t pruning__samples(const struct ls_profile *profile, uint32_t other)
{
	uint8_t *is_below = calloc((size_t)profile->node_count + 1, sizeof(*is_below));
	uint64_t samples = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];
		uint8_t counts = node->function == other || (is_below && is_below[node->parent]);

		if (is_below)
			is_below[id] = counts;
		samples += counts ? node->samples : 0;
	}
	free(is_below);
	return samples;
}
