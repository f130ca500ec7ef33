/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/call_tree.h"
#include "profile/function_looks.h"
#include "profile/merged_profile.h"

#define USED UINT32_MAX /* a node that is used but has no new id yet */

struct merged_profile {
	struct ls_profile profile;
	struct ls_profile_function *functions;
	struct ls_profile_line *lines;
	struct call_tree *tree;
	uint32_t *sample_nodes;
};

/* State that is needed only while merging. Maps are indexed by the old ids. */
struct merging {
	const struct ls_profile *from;
	uint32_t *nodes;                           /* to the new node; 0: not used */
	uint32_t *functions;                       /* to the new function; 0: no node uses it */
	const struct ls_profile_function **sorted; /* functions that are used */
	size_t sorted_count;
	enum merged_lines lines;
	struct ls_profile_line *own; /* by old function: self time and samples of its nodes */
};

static int compare_current_lines(const struct ls_profile_function *a,
				 const struct ls_profile_function *b)
{
	return (a->current_line > b->current_line) - (a->current_line < b->current_line);
}

/* Sorts lookalikes side by side, by current line, then by id. */
static int compare_functions(const void *left, const void *right)
{
	const struct ls_profile_function *a = *(const struct ls_profile_function *const *)left;
	const struct ls_profile_function *b = *(const struct ls_profile_function *const *)right;
	int order = function_looks__compare(a, b);

	if (!order)
		order = compare_current_lines(a, b);
	return order ? order : (a > b) - (a < b);
}

static bool is_sound(const struct ls_profile *from)
{
	for (uint32_t id = 1; id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (node->parent >= id || node->function > from->function_count)
			return false;
	}
	for (uint32_t i = 0; i < from->category_count; i++) {
		uint32_t id = from->categories[i].node;

		if (!id || id > from->node_count || from->nodes[id].parent)
			return false;
	}
	return true;
}

static int start_merging(struct merging *merging, const struct ls_profile *from,
			 enum merged_lines lines)
{
	size_t functions = (size_t)from->function_count + 1;

	merging->from = from;
	merging->lines = lines;
	merging->nodes = calloc((size_t)from->node_count + 1, sizeof(*merging->nodes));
	merging->functions = calloc(functions, sizeof(*merging->functions));
	merging->sorted = calloc(functions, sizeof(*merging->sorted));
	merging->own = calloc(functions, sizeof(*merging->own));
	return merging->nodes && merging->functions && merging->sorted && merging->own ? 0
										       : -ENOMEM;
}

static void end_merging(struct merging *merging)
{
	free(merging->nodes);
	free(merging->functions);
	free(merging->sorted);
	free(merging->own);
}

/*
 * Marks used nodes and functions, and sums up the samples and self time of each function. It goes
 * from the leaves up, so that one pass suffices for trees of any depth.
 */
static void mark_used(struct merging *merging)
{
	const struct ls_profile *from = merging->from;

	for (uint32_t id = from->node_count; id; id--) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (!merging->nodes[id] && !node->samples && !node->self_ns)
			continue;
		merging->nodes[id] = USED;
		merging->nodes[node->parent] = USED;
		merging->functions[node->function] = node->function;
		merging->own[node->function].self_ns += node->self_ns;
		merging->own[node->function].samples += node->samples;
	}
}

static bool are_one(const struct merging *merging, const struct ls_profile_function *a,
		    const struct ls_profile_function *b)
{
	return !function_looks__compare(a, b) &&
	       (merging->lines == MERGED_LINES_FOLDED || !compare_current_lines(a, b));
}

/* The end of the lookalikes that start at sorted[start]. */
static size_t find_end(const struct merging *merging, size_t start)
{
	size_t end = start + 1;

	while (end < merging->sorted_count &&
	       are_one(merging, merging->sorted[start], merging->sorted[end]))
		end++;
	return end;
}

/* Points sorted[start .. end - 1] at the lowest id among them. */
static void point_at_first(struct merging *merging, size_t start, size_t end)
{
	const struct ls_profile_function *functions = merging->from->functions;
	const struct ls_profile_function *first = merging->sorted[start];

	for (size_t i = start; i < end; i++)
		if (merging->sorted[i] < first)
			first = merging->sorted[i];
	for (size_t i = start; i < end; i++)
		merging->functions[merging->sorted[i] - functions] = (uint32_t)(first - functions);
}

/* Maps all lookalikes to the one with the lowest id. */
static void find_lookalikes(struct merging *merging)
{
	const struct ls_profile_function *functions = merging->from->functions;

	for (uint32_t id = 1; id <= merging->from->function_count; id++) {
		if (merging->functions[id])
			merging->sorted[merging->sorted_count++] = &functions[id];
	}
	qsort(merging->sorted, merging->sorted_count, sizeof(*merging->sorted), compare_functions);
	for (size_t start = 0, end; start < merging->sorted_count; start = end) {
		end = find_end(merging, start);
		point_at_first(merging, start, end);
	}
}

/* Goes in order of old ids, so the first lookalike has its new id before the others need it. */
static int merge_functions(struct merging *merging, struct merged_profile *merged)
{
	const struct ls_profile *from = merging->from;
	uint32_t count = 0;

	find_lookalikes(merging);
	merged->functions = calloc((size_t)from->function_count + 1, sizeof(*merged->functions));
	if (!merged->functions)
		return -ENOMEM;
	for (uint32_t id = 1; id <= from->function_count; id++) {
		uint32_t first = merging->functions[id];

		if (first == id) {
			merged->functions[++count] = from->functions[id];
			merging->functions[id] = count;
		} else if (first) {
			merging->functions[id] = merging->functions[first];
		}
	}
	merged->profile.functions = merged->functions;
	merged->profile.function_count = count;
	return 0;
}

/* Collects the lines of one function from sorted[start .. end - 1], which is sorted by line. */
static void collect_lines(const struct merging *merging, size_t start, size_t end,
			  struct ls_profile_function *function, struct ls_profile_line *lines)
{
	for (size_t i = start; i < end; i++) {
		const struct ls_profile_function *from = merging->sorted[i];
		const struct ls_profile_line *own = &merging->own[from - merging->from->functions];
		struct ls_profile_line *line;

		if (!from->current_line || (!own->samples && !own->self_ns))
			continue;
		if (!function->line_count ||
		    lines[function->first_line + function->line_count - 1].line !=
			    from->current_line)
			function->line_count++;
		line = &lines[function->first_line + function->line_count - 1];
		line->line = from->current_line;
		line->self_ns += own->self_ns;
		line->samples += own->samples;
	}
}

/* Folds each function's entries for its lines into a histogram. */
static int merge_lines(const struct merging *merging, struct merged_profile *merged)
{
	const struct ls_profile_function *functions = merging->from->functions;
	uint32_t count = 0;

	merged->lines = calloc(merging->sorted_count + 1, sizeof(*merged->lines));
	if (!merged->lines)
		return -ENOMEM;
	for (size_t start = 0, end; start < merging->sorted_count; start = end) {
		uint32_t id = merging->functions[merging->sorted[start] - functions];
		struct ls_profile_function *function = &merged->functions[id];

		end = find_end(merging, start);
		function->current_line = 0;
		function->first_line = count;
		function->line_count = 0;
		collect_lines(merging, start, end, function, merged->lines);
		count += function->line_count;
	}
	merged->profile.lines = merged->lines;
	merged->profile.line_count = count;
	return 0;
}

static int merge_categories(struct merging *merging, struct call_tree *tree)
{
	for (uint32_t i = 0; i < merging->from->category_count; i++) {
		const struct ls_profile_category *category = &merging->from->categories[i];
		uint32_t *node = &merging->nodes[category->node];

		if (!*node)
			continue;
		if (*node != USED)
			return -EINVAL;
		*node = call_tree__category(tree, category->name);
		if (!*node)
			return -ENOMEM;
	}
	return 0;
}

static int merge_nodes(struct merging *merging, struct call_tree *tree)
{
	const struct ls_profile *from = merging->from;
	int error = merge_categories(merging, tree);

	for (uint32_t id = 1; !error && id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (!merging->nodes[id])
			continue;
		if (node->parent)
			merging->nodes[id] = call_tree__child(tree, merging->nodes[node->parent],
							      merging->functions[node->function]);
		if (!merging->nodes[id])
			error = -ENOMEM;
		else if (merging->nodes[id] == USED)
			error = -EINVAL;
		else
			call_tree__add(tree, merging->nodes[id], node->samples, node->self_ns);
	}
	return error;
}

/* Maps the samples' nodes to the new ones: a node at which a sample ended is used. */
static int point_samples(const struct merging *merging, struct merged_profile *merged)
{
	const struct ls_profile *from = merging->from;
	uint32_t count = from->sample_nodes ? from->sample_node_count : from->node_count;

	if (!from->samples)
		return 0;
	merged->sample_nodes = calloc((size_t)count + 1, sizeof(*merged->sample_nodes));
	if (!merged->sample_nodes)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count; id++)
		merged->sample_nodes[id] =
			merging->nodes[from->sample_nodes ? from->sample_nodes[id] : id];
	merged->profile.samples = from->samples;
	merged->profile.sample_count = from->sample_count;
	merged->profile.sample_nodes = merged->sample_nodes;
	merged->profile.sample_node_count = count;
	return 0;
}

int merged_profile__new(const struct ls_profile *from, enum merged_lines lines,
			struct merged_profile **merged)
{
	struct merging merging = {0};
	struct merged_profile *made = NULL;
	int error = -EINVAL;

	*merged = NULL;
	if (!is_sound(from))
		goto cleanup;
	error = -ENOMEM;
	made = calloc(1, sizeof(*made));
	if (!made)
		goto cleanup;
	made->tree = call_tree__new();
	if (!made->tree)
		goto cleanup;
	error = start_merging(&merging, from, lines);
	if (error)
		goto cleanup;
	mark_used(&merging);
	error = merge_functions(&merging, made);
	if (!error && lines == MERGED_LINES_FOLDED)
		error = merge_lines(&merging, made);
	if (error)
		goto cleanup;
	error = merge_nodes(&merging, made->tree);
	if (!error)
		error = point_samples(&merging, made);
	if (error)
		goto cleanup;
	made->profile.recorder = from->recorder;
	call_tree__export(made->tree, &made->profile);
	*merged = made;
	made = NULL;
cleanup:
	end_merging(&merging);
	merged_profile__free(made);
	return error;
}

void merged_profile__free(struct merged_profile *merged)
{
	if (!merged)
		return;
	call_tree__free(merged->tree);
	free(merged->functions);
	free(merged->lines);
	free(merged->sample_nodes);
	free(merged);
}

const struct ls_profile *merged_profile__profile(const struct merged_profile *merged)
{
	return &merged->profile;
}
