/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/profile_split.h"

#include <errno.h>
#include <stdlib.h>

/* Ids grouped by owner, one owner after the other. */
struct grouped {
	uint32_t *ids; /* of nodes, or indices of samples or categories; ascending for each owner */
	size_t *starts; /* by owner's number, from 1; one more than there are numbers */
};

struct profile_split {
	const struct ls_profile *from;
	uint32_t *owners; /* by number, from 1, ascending */
	uint32_t owner_count;
	uint32_t *numbers;       /* by node: its owner's number */
	uint32_t *new_nodes;     /* by node: its id in its owner's profile */
	uint32_t *new_functions; /* by function: its id in the part being made; 0: not in it */
	struct grouped nodes, categories, samples;
	/* The arrays of the part that was made last. */
	struct ls_profile_node *part_nodes;
	struct ls_profile_function *part_functions;
	struct ls_profile_category *part_categories;
	struct ls_profile_sample *part_samples;
};

static int compare_owners(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int number_owners(struct profile_split *split)
{
	const struct ls_profile *from = split->from;
	uint32_t count = 0, *owners;

	split->owners = owners = calloc((size_t)from->category_count + 1, sizeof(*owners));
	if (!owners)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->category_count; i++)
		owners[i + 1] = from->categories[i].owner;
	qsort(owners + 1, from->category_count, sizeof(*owners), compare_owners);
	for (uint32_t i = 1; i <= from->category_count; i++)
		if (!count || owners[count] != owners[i])
			owners[++count] = owners[i];
	split->owner_count = count;
	return 0;
}

/* The owner's number; 0: it has no category. */
static uint32_t number_of(const struct profile_split *split, uint32_t owner)
{
	const uint32_t *found = bsearch(&owner, split->owners + 1, split->owner_count,
					sizeof(owner), compare_owners);

	return found ? (uint32_t)(found - split->owners) : 0;
}

/* A parent's id is lower than its children's, so its number is known first. */
static void number_nodes(struct profile_split *split)
{
	const struct ls_profile *from = split->from;

	for (uint32_t i = 0; i < from->category_count; i++)
		split->numbers[from->categories[i].node] =
			number_of(split, from->categories[i].owner);
	for (uint32_t id = 1; id <= from->node_count; id++)
		if (from->nodes[id].parent)
			split->numbers[id] = split->numbers[from->nodes[id].parent];
}

typedef uint32_t numbering(const struct profile_split *split, size_t id);

static uint32_t number_of_node(const struct profile_split *split, size_t id)
{
	return split->numbers[id];
}

static uint32_t number_of_category(const struct profile_split *split, size_t index)
{
	return split->numbers[split->from->categories[index].node];
}

static uint32_t number_of_sample(const struct profile_split *split, size_t index)
{
	return split->numbers[split->from->samples[index].node];
}

static int group(const struct profile_split *split, size_t first, size_t end, numbering *number,
		 struct grouped *grouped)
{
	size_t *starts = calloc((size_t)split->owner_count + 3, sizeof(*starts));

	grouped->starts = starts;
	grouped->ids = calloc(end - first + 1, sizeof(*grouped->ids));
	if (!starts || !grouped->ids)
		return -ENOMEM;
	/* Shifted by one, so that starts[] is right once all ids are in their places. */
	for (size_t id = first; id < end; id++)
		starts[number(split, id) + 2]++;
	for (uint32_t i = 1; i <= split->owner_count + 2; i++)
		starts[i] += starts[i - 1];
	for (size_t id = first; id < end; id++)
		grouped->ids[starts[number(split, id) + 1]++] = (uint32_t)id;
	return 0;
}

static int group_all(struct profile_split *split)
{
	const struct ls_profile *from = split->from;
	int error = group(split, 1, (size_t)from->node_count + 1, number_of_node, &split->nodes);

	if (!error)
		error = group(split, 0, from->category_count, number_of_category,
			      &split->categories);
	if (!error && from->samples)
		error = group(split, 0, from->sample_count, number_of_sample, &split->samples);
	return error;
}

static void renumber_nodes(struct profile_split *split)
{
	for (uint32_t number = 0; number <= split->owner_count; number++) {
		size_t start = split->nodes.starts[number];

		for (size_t i = start; i < split->nodes.starts[number + 1]; i++)
			split->new_nodes[split->nodes.ids[i]] = (uint32_t)(i - start + 1);
	}
}

int profile_split__new(const struct ls_profile *from, struct profile_split **made)
{
	struct profile_split *split = calloc(1, sizeof(*split));
	size_t nodes = (size_t)from->node_count + 1;
	int error = -ENOMEM;

	*made = NULL;
	if (!split)
		return error;
	split->from = from;
	split->numbers = calloc(nodes, sizeof(*split->numbers));
	split->new_nodes = calloc(nodes, sizeof(*split->new_nodes));
	split->new_functions =
		calloc((size_t)from->function_count + 1, sizeof(*split->new_functions));
	if (!split->numbers || !split->new_nodes || !split->new_functions)
		goto cleanup;
	error = number_owners(split);
	if (error)
		goto cleanup;
	number_nodes(split);
	error = group_all(split);
	if (error)
		goto cleanup;
	renumber_nodes(split);
	*made = split;
	split = NULL;
cleanup:
	profile_split__free(split);
	return error;
}

static void free_part(struct profile_split *split)
{
	free(split->part_nodes);
	free(split->part_functions);
	free(split->part_categories);
	free(split->part_samples);
	split->part_nodes = NULL;
	split->part_functions = NULL;
	split->part_categories = NULL;
	split->part_samples = NULL;
}

static void free_grouped(struct grouped *grouped)
{
	free(grouped->ids);
	free(grouped->starts);
}

void profile_split__free(struct profile_split *split)
{
	if (!split)
		return;
	free_part(split);
	free_grouped(&split->nodes);
	free_grouped(&split->categories);
	free_grouped(&split->samples);
	free(split->new_functions);
	free(split->new_nodes);
	free(split->numbers);
	free(split->owners);
	free(split);
}

static void take_function(struct profile_split *split, uint32_t function, uint32_t *count)
{
	if (!function || split->new_functions[function])
		return;
	split->new_functions[function] = ++*count;
	split->part_functions[*count] = split->from->functions[function];
}

/* Takes each function together with its entry without a line. */
static int take_functions(struct profile_split *split, uint32_t number, struct ls_profile *profile)
{
	const struct ls_profile *from = split->from;
	size_t start = split->nodes.starts[number], end = split->nodes.starts[number + 1];
	size_t most = 2 * (end - start);
	uint32_t count = 0;

	if (most > from->function_count)
		most = from->function_count;
	split->part_functions = calloc(most + 1, sizeof(*split->part_functions));
	if (!split->part_functions)
		return -ENOMEM;
	for (size_t i = start; i < end; i++) {
		uint32_t function = from->nodes[split->nodes.ids[i]].function;

		take_function(split, function, &count);
		take_function(split, from->functions[function].function, &count);
	}
	for (uint32_t id = 1; id <= count; id++)
		split->part_functions[id].function =
			split->new_functions[split->part_functions[id].function];
	profile->functions = split->part_functions;
	profile->function_count = count;
	return 0;
}

/* Clears new_functions for the next part. */
static void forget_functions(struct profile_split *split, uint32_t number)
{
	const struct ls_profile *from = split->from;

	for (size_t i = split->nodes.starts[number]; i < split->nodes.starts[number + 1]; i++) {
		uint32_t function = from->nodes[split->nodes.ids[i]].function;

		split->new_functions[function] = 0;
		split->new_functions[from->functions[function].function] = 0;
	}
}

static int take_nodes(struct profile_split *split, uint32_t number, struct ls_profile *profile)
{
	size_t start = split->nodes.starts[number];
	size_t count = split->nodes.starts[number + 1] - start;

	split->part_nodes = calloc(count + 1, sizeof(*split->part_nodes));
	if (!split->part_nodes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct ls_profile_node *from =
			&split->from->nodes[split->nodes.ids[start + i]];

		split->part_nodes[i + 1] = (struct ls_profile_node){
			.parent = split->new_nodes[from->parent],
			.function = split->new_functions[from->function],
			.first_child = split->new_nodes[from->first_child],
			.next_sibling = split->new_nodes[from->next_sibling],
			.self_ns = from->self_ns,
			.samples = from->samples,
		};
	}
	profile->nodes = split->part_nodes;
	profile->node_count = (uint32_t)count;
	return 0;
}

static int take_categories(struct profile_split *split, uint32_t number, struct ls_profile *profile)
{
	size_t start = split->categories.starts[number];
	size_t count = split->categories.starts[number + 1] - start;

	split->part_categories = calloc(count + 1, sizeof(*split->part_categories));
	if (!split->part_categories)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		split->part_categories[i] =
			split->from->categories[split->categories.ids[start + i]];
		split->part_categories[i].node = split->new_nodes[split->part_categories[i].node];
	}
	profile->categories = split->part_categories;
	profile->category_count = (uint32_t)count;
	return 0;
}

static int take_samples(struct profile_split *split, uint32_t number, struct ls_profile *profile)
{
	size_t start, count;

	if (!split->from->samples)
		return 0;
	start = split->samples.starts[number];
	count = split->samples.starts[number + 1] - start;
	split->part_samples = calloc(count + 1, sizeof(*split->part_samples));
	if (!split->part_samples)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		split->part_samples[i] = split->from->samples[split->samples.ids[start + i]];
		split->part_samples[i].node = split->new_nodes[split->part_samples[i].node];
	}
	profile->samples = split->part_samples;
	profile->sample_count = count;
	return 0;
}

int profile_split__of(struct profile_split *split, uint32_t owner, struct ls_profile *profile)
{
	/* Number 0 has no nodes: every category has an owner. */
	uint32_t number = number_of(split, owner);
	int error;

	free_part(split);
	*profile = (struct ls_profile){.recorder = split->from->recorder};
	error = take_functions(split, number, profile);
	if (!error)
		error = take_nodes(split, number, profile);
	if (!error)
		error = take_categories(split, number, profile);
	if (!error)
		error = take_samples(split, number, profile);
	forget_functions(split, number);
	return error;
}
