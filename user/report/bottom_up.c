/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/bottom_up.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/call_tree.h"

#define NS_PER_US  1000
#define NODES_MOST (4U << 20) /* about 400 MB: beyond, callers are left out */

struct bottom_up {
	struct ls_profile profile;
	struct ls_totals totals;
	struct call_tree *tree;
	uint32_t *
		callers; /* by node of the profile: the nearest above that is of another function */
	bool is_cut;
};

/* Adds the self time of a node below its function, on the path of its callers. */
static int add_node(struct bottom_up *made, const struct ls_profile *from, uint32_t category,
		    uint32_t node, uint64_t us)
{
	uint64_t samples = from->nodes[node].samples;
	uint32_t to = call_tree__child(made->tree, category, from->nodes[node].function);

	node = made->callers[node];
	for (int depth = 0; from->nodes[node].function; node = made->callers[node]) {
		if (depth++ == BOTTOM_UP_DEPTH || call_tree__nodes(made->tree) >= NODES_MOST) {
			made->is_cut = true;
			break;
		}
		to = call_tree__child(made->tree, to, from->nodes[node].function);
	}
	if (!to)
		return -ENOMEM;
	call_tree__add(made->tree, to, samples, us * NS_PER_US);
	return 0;
}

/* Parents come first, so one step finds the caller in a recursion of any depth. */
static int find_callers(struct bottom_up *made, const struct ls_profile *from)
{
	made->callers = calloc((size_t)from->node_count + 1, sizeof(*made->callers));
	if (!made->callers)
		return -ENOMEM;
	for (uint32_t id = 1; id <= from->node_count; id++) {
		uint32_t parent = from->nodes[id].parent;
		bool is_recursive = from->nodes[parent].function == from->nodes[id].function;

		made->callers[id] = is_recursive ? made->callers[parent] : parent;
	}
	return 0;
}

static int add_nodes(struct bottom_up *made, const struct ls_profile *from,
		     const struct ls_totals *totals, uint64_t least_us)
{
	uint32_t category = call_tree__category(made->tree, "");
	int error = category ? 0 : -ENOMEM;

	for (uint32_t id = 1; id <= from->node_count && !error; id++) {
		uint32_t function = from->nodes[id].function;
		uint64_t us = totals__node_self_us(from, totals, id);

		if (function && us && totals->function_self_us[function] >= least_us)
			error = add_node(made, from, category, id, us);
	}
	return error;
}

int bottom_up__new(const struct ls_profile *profile, const struct ls_totals *totals,
		   uint64_t least_us, struct bottom_up **bottom_up)
{
	struct bottom_up *made = calloc(1, sizeof(*made));
	int error = -ENOMEM;

	*bottom_up = NULL;
	if (!made)
		return error;
	made->tree = call_tree__new();
	if (made->tree)
		error = find_callers(made, profile);
	if (!error)
		error = add_nodes(made, profile, totals, least_us);
	if (!error) {
		made->profile = *profile;
		made->profile.lines = NULL;
		made->profile.line_count = 0;
		call_tree__export(made->tree, &made->profile);
		error = totals__compute(&made->profile, &made->totals);
	}
	if (error)
		bottom_up__free(made);
	else
		*bottom_up = made;
	return error;
}

void bottom_up__free(struct bottom_up *bottom_up)
{
	if (!bottom_up)
		return;
	totals__free(&bottom_up->totals);
	free(bottom_up->callers);
	call_tree__free(bottom_up->tree);
	free(bottom_up);
}

const struct ls_profile *bottom_up__profile(const struct bottom_up *bottom_up)
{
	return &bottom_up->profile;
}

const struct ls_totals *bottom_up__totals(const struct bottom_up *bottom_up)
{
	return &bottom_up->totals;
}

bool bottom_up__is_cut(const struct bottom_up *bottom_up)
{
	return bottom_up->is_cut;
}
