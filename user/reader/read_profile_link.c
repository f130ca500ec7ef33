/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "reader/read_profile_internal.h"

#define NS_PER_US 1000
#define ROOT      UINT32_MAX /* as a parent: the node of a category, until all are linked */

static struct ls_profile_node *node_at(struct read_profile *read, size_t id)
{
	return (struct ls_profile_node *)read->nodes.items + id;
}

static bool is_memory(struct read_profile *read, const void *memory)
{
	if (!memory) {
		read->error = -ENOMEM;
		json_reader__fail(&read->json, "");
	}
	return memory != NULL;
}

/* Gives the child of `edge` its parent, and the function that the parent calls. */
static bool adopt(struct read_profile *read, uint32_t parent, const struct read_edge *edge)
{
	struct ls_profile_node *child;

	if (!edge->function || edge->function > read->functions.count)
		return read_profile__refuse(
			read, "node %" PRIu32 " calls function %" PRIu32 ", but there are %zu",
			parent, edge->function, read->functions.count);
	if (!edge->node || edge->node > read->nodes.count)
		return read_profile__refuse(
			read, "node %" PRIu32 " has the child %" PRIu32 ", but there are %zu nodes",
			parent, edge->node, read->nodes.count);
	child = node_at(read, edge->node);
	if (child->parent)
		return read_profile__refuse(read, "node %" PRIu32 " has two parents", edge->node);
	child->parent = parent;
	child->function = edge->function;
	return true;
}

/* Turns edges into links; siblings go to `next`, as next_sibling still has the number of edges. */
static bool link_edges(struct read_profile *read)
{
	const struct read_edge *edges = read->edges.items;
	uint32_t *next = calloc(read->nodes.count + 1, sizeof(*next));

	if (!is_memory(read, next))
		return false;
	for (uint32_t id = 1; id <= read->nodes.count; id++) {
		struct ls_profile_node *node = node_at(read, id);
		uint32_t first = node->first_child, count = node->next_sibling;

		for (uint32_t i = 0; i < count; i++) {
			if (!adopt(read, id, &edges[first + i])) {
				free(next);
				return false;
			}
			next[edges[first + i].node] = i + 1 < count ? edges[first + i + 1].node : 0;
		}
		node->first_child = count ? edges[first].node : 0;
	}
	for (uint32_t id = 1; id <= read->nodes.count; id++)
		node_at(read, id)->next_sibling = next[id];
	free(next);
	return true;
}

static bool mark_categories(struct read_profile *read)
{
	const struct ls_profile_category *categories = read->categories.items;

	for (size_t i = 1; i <= read->categories.count; i++) {
		uint32_t id = categories[i].node;

		if (id > read->nodes.count)
			return read_profile__refuse(
				read, "category %zu is node %" PRIu32 ", but there are %zu nodes",
				i, id, read->nodes.count);
		if (node_at(read, id)->parent)
			return read_profile__refuse(read,
						    "node %" PRIu32 ", of category %zu, has a "
						    "parent or another category",
						    id, i);
		node_at(read, id)->parent = ROOT;
	}
	return true;
}

/* The node after `id` in depth-first order below its category; 0: none. */
static uint32_t next_below(struct read_profile *read, uint32_t id)
{
	const struct ls_profile_node *node = node_at(read, id);

	if (node->first_child)
		return node->first_child;
	while (node->parent != ROOT && !node->next_sibling) {
		id = node->parent;
		node = node_at(read, id);
	}
	return node->parent == ROOT ? 0 : node->next_sibling;
}

/* Numbers the nodes below categories in depth-first order. Each has one parent, so this ends. */
static uint32_t number_nodes(struct read_profile *read, uint32_t *numbers)
{
	const struct ls_profile_category *categories = read->categories.items;
	uint32_t count = 0;

	for (size_t i = 1; i <= read->categories.count; i++)
		for (uint32_t id = categories[i].node; id; id = next_below(read, id))
			numbers[id] = ++count;
	return count;
}

static void move_nodes(struct read_profile *read, const uint32_t *numbers,
		       struct ls_profile_node *to)
{
	struct ls_profile_category *categories = read->categories.items;
	struct ls_profile_sample *samples = read->samples.items;

	for (uint32_t id = 1; id <= read->nodes.count; id++) {
		struct ls_profile_node *node = &to[numbers[id]];

		*node = *node_at(read, id);
		if (node->parent != ROOT)
			node->parent = numbers[node->parent];
		node->first_child = numbers[node->first_child];
		node->next_sibling = numbers[node->next_sibling];
	}
	for (size_t i = 1; i <= read->categories.count; i++)
		categories[i].node = numbers[categories[i].node];
	for (size_t i = 1; i <= read->samples.count; i++)
		samples[i].node = numbers[samples[i].node];
	free(read->nodes.items);
	read->nodes.items = to;
}

/* Puts parents in front of their children, and proves that all nodes are below categories. */
static bool sort_nodes(struct read_profile *read)
{
	uint32_t *numbers = calloc(read->nodes.count + 1, sizeof(*numbers));
	struct ls_profile_node *sorted = NULL;
	uint32_t count;
	bool is_whole = false;

	if (!is_memory(read, numbers))
		return false;
	count = number_nodes(read, numbers);
	if (count == read->nodes.count) {
		sorted = calloc(read->nodes.count + 1, sizeof(*sorted));
		is_whole = is_memory(read, sorted);
	} else {
		read_profile__refuse(read, "%zu of %zu nodes are not below a category",
				     read->nodes.count - count, read->nodes.count);
	}
	if (is_whole)
		move_nodes(read, numbers, sorted);
	free(numbers);
	return is_whole;
}

/* Whether parents come first already, which proves the same. */
static bool are_sorted(struct read_profile *read)
{
	for (uint32_t id = 1; id <= read->nodes.count; id++) {
		uint32_t parent = node_at(read, id)->parent;

		if (!parent || (parent != ROOT && parent >= id))
			return false;
	}
	return true;
}

/* Readers keep children in maps by function, where the time of a second child would be lost. */
static bool check_twins(struct read_profile *read)
{
	uint32_t *caller = calloc(read->functions.count + 1, sizeof(*caller));
	bool is_right = is_memory(read, caller);

	for (uint32_t id = 1; id <= read->nodes.count && is_right; id++)
		for (uint32_t child = node_at(read, id)->first_child; child && is_right;
		     child = node_at(read, child)->next_sibling) {
			uint32_t function = node_at(read, child)->function;

			if (caller[function] == id)
				is_right = read_profile__refuse(
					read, "node %" PRIu32 " calls function %" PRIu32 " twice",
					id, function);
			caller[function] = id;
		}
	free(caller);
	return is_right;
}

/* Turns totals into self times: in ascending order, a child's total is still complete. */
static bool take_self_times(struct read_profile *read)
{
	uint64_t all_us = 0;

	for (uint32_t id = 1; id <= read->nodes.count; id++) {
		struct ls_profile_node *node = node_at(read, id);
		uint64_t *above_us =
			node->parent == ROOT ? NULL : &node_at(read, node->parent)->self_ns;

		if (!above_us)
			all_us += node->self_ns;
		else if (*above_us < node->self_ns)
			return read_profile__refuse(
				read, "node %" PRIu32 " has less TotalDuration than its children",
				node->parent);
		else
			*above_us -= node->self_ns;
		if (all_us > JSON_READER_UINT_MAX)
			return read_profile__refuse(read, "its categories' time is more than a "
							  "number can hold");
	}
	for (uint32_t id = 1; id <= read->nodes.count; id++) {
		struct ls_profile_node *node = node_at(read, id);

		node->self_ns *= NS_PER_US;
		if (node->parent == ROOT)
			node->parent = 0;
	}
	return true;
}

/* The times of a function's lines are parts of its own time. */
static bool check_lines(struct read_profile *read)
{
	const struct ls_profile_function *functions = read->functions.items;
	const struct ls_profile_line *lines = read->lines.items;
	uint64_t *own_ns = calloc(read->functions.count + 1, sizeof(*own_ns));
	bool is_right = is_memory(read, own_ns);

	for (uint32_t id = 1; id <= read->nodes.count && is_right; id++)
		own_ns[node_at(read, id)->function] += node_at(read, id)->self_ns;
	for (uint32_t id = 1; id <= read->functions.count && is_right; id++)
		for (uint32_t i = 0; i < functions[id].line_count && is_right; i++) {
			uint64_t line_ns = lines[functions[id].first_line + i + 1].self_ns;

			if (line_ns > own_ns[id])
				is_right = read_profile__refuse(
					read,
					"function %" PRIu32
					" has more time on its lines than of its own",
					id);
			own_ns[id] -= line_ns;
		}
	free(own_ns);
	return is_right;
}

static bool check_samples(struct read_profile *read)
{
	const struct ls_profile_sample *samples = read->samples.items;

	for (size_t i = 1; i <= read->samples.count; i++)
		if (!samples[i].node || samples[i].node > read->nodes.count)
			return read_profile__refuse(
				read, "sample %zu is of node %" PRIu32 ", but there are %zu", i,
				samples[i].node, read->nodes.count);
	return true;
}

/* Files of earlier releases of luaspy count only the samples on the timeline. */
static void count_samples(struct read_profile *read)
{
	const struct ls_profile_sample *samples = read->samples.items;

	if (read->counts_samples || read->profile.recorder.untimed_samples)
		return;
	for (size_t i = 1; i <= read->samples.count; i++)
		node_at(read, samples[i].node)->samples++;
}

static const void *first_of(const struct column *column, size_t size)
{
	return column->items ? (const char *)column->items + size : NULL;
}

static void export(struct read_profile *read)
{
	struct ls_profile *profile = &read->profile;

	profile->nodes = read->nodes.items;
	profile->node_count = (uint32_t)read->nodes.count;
	profile->functions = read->functions.items;
	profile->function_count = (uint32_t)read->functions.count;
	profile->categories = first_of(&read->categories, sizeof(*profile->categories));
	profile->category_count = (uint32_t)read->categories.count;
	profile->lines = first_of(&read->lines, sizeof(*profile->lines));
	profile->line_count = (uint32_t)read->lines.count;
	profile->samples = first_of(&read->samples, sizeof(*profile->samples));
	profile->sample_count = read->samples.count;
	profile->recorder.events = first_of(&read->events, sizeof(*profile->recorder.events));
	profile->recorder.event_count = (uint32_t)read->events.count;
}

bool read_profile__link(struct read_profile *read)
{
	if (!read->has_children && !link_edges(read))
		return false;
	free(read->edges.items);
	read->edges = (struct column){};
	if (!check_samples(read) || !mark_categories(read) ||
	    (!are_sorted(read) && !sort_nodes(read)) || !check_twins(read) ||
	    !take_self_times(read) || !check_lines(read))
		return false;
	count_samples(read);
	export(read);
	return true;
}
