/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/joined_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combine/joined_recorder.h"
#include "combine/paired_functions.h"
#include "combine/profile_builder.h"

/* As much as one file may have (JSON_READER_UINT_MAX microseconds): the sum has to fit into one. */
#define TIME_MOST_NS (((UINT64_C(1) << 53) - 1) * 1000)

/* How the ids of a recording become those of the whole. Indexed by id. */
struct part {
	const struct ls_profile *profile;
	uint32_t *nodes, *functions;
};

struct joined_profile {
	struct profile_builder *builder;
	struct paired_functions *paired; /* NULL: only functions that look alike are one */
	struct part *parts;
	size_t count;
	uint64_t time_ns;
	bool lost_order;
};

static int join_functions(struct joined_profile *joined, struct part *part)
{
	const struct ls_profile *from = part->profile;

	for (uint32_t id = 1; id <= from->function_count; id++) {
		const struct ls_profile_function *function = &from->functions[id], *looks;

		looks = joined->paired ? paired_functions__after(joined->paired, function)
				       : function;
		part->functions[id] = profile_builder__function(joined->builder, looks);
		if (!part->functions[id])
			return -ENOMEM;
		for (uint32_t i = 0; i < function->line_count; i++)
			if (profile_builder__add_line(joined->builder, part->functions[id],
						      &from->lines[function->first_line + i]))
				return -ENOMEM;
	}
	return 0;
}

static int join_category(struct joined_profile *joined, struct part *part, uint32_t index,
			 enum joined_categories categories)
{
	struct call_tree *tree = profile_builder__tree(joined->builder);
	const struct ls_profile_category *category = &part->profile->categories[index];
	const char *target = part->profile->recorder.target;
	uint32_t *node = &part->nodes[category->node];
	char *name = NULL;

	if (categories == JOINED_AS_ONE) {
		*node = call_tree__category(tree, "all");
	} else if (categories == JOINED_APART && target && joined->count > 1 &&
		   strcmp(target, category->name) != 0) {
		if (asprintf(&name, "%s, %s", category->name, target) < 0)
			return -ENOMEM;
		*node = call_tree__category(tree, name);
		free(name);
	} else {
		*node = call_tree__category(tree, category->name);
	}
	return *node ? 0 : -ENOMEM;
}

static int join_nodes(struct joined_profile *joined, struct part *part,
		      enum joined_categories categories)
{
	struct call_tree *tree = profile_builder__tree(joined->builder);
	const struct ls_profile *from = part->profile;
	int error = 0;

	for (uint32_t i = 0; !error && i < from->category_count; i++)
		error = join_category(joined, part, i, categories);
	for (uint32_t id = 1; !error && id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (node->parent)
			part->nodes[id] = call_tree__child(tree, part->nodes[node->parent],
							   part->functions[node->function]);
		if (!part->nodes[id])
			return -ENOMEM;
		if (node->self_ns > TIME_MOST_NS - joined->time_ns)
			return -ERANGE;
		joined->time_ns += node->self_ns;
		call_tree__add(tree, part->nodes[id], node->samples, node->self_ns);
	}
	return error;
}

/* Samples count from the start of the whole, as in a file. */
static int join_samples(struct joined_profile *joined, const struct part *part, uint64_t start_ms)
{
	const struct ls_profile *from = part->profile;
	uint64_t later_ns = joined_recorder__later_ns(&from->recorder, start_ms);

	for (size_t i = 0; i < from->sample_count; i++) {
		struct ls_profile_sample sample = from->samples[i];
		uint32_t node = from->sample_nodes ? from->sample_nodes[sample.node] : sample.node;

		sample.time_ns -= sample.time_ns < from->recorder.timed_from_ns
					  ? sample.time_ns
					  : from->recorder.timed_from_ns;
		sample.time_ns += later_ns;
		sample.node = part->nodes[node];
		if (profile_builder__add_sample(joined->builder, &sample))
			return -ENOMEM;
	}
	return 0;
}

static int join_events(struct joined_profile *joined, const struct part *part, uint64_t start_ms)
{
	const struct ls_profile_recorder *recorder = &part->profile->recorder;

	for (uint32_t i = 0; i < recorder->event_count; i++) {
		struct ls_profile_event event = recorder->events[i];

		event.time_ns += joined_recorder__later_ns(recorder, start_ms);
		if (profile_builder__add_event(joined->builder, &event))
			return -ENOMEM;
	}
	return 0;
}

static int allocate(struct joined_profile *joined, const struct ls_profile *const *from,
		    size_t count)
{
	joined->builder = profile_builder__new();
	joined->parts = calloc(count, sizeof(*joined->parts));
	if (!joined->builder || !joined->parts)
		return -ENOMEM;
	joined->count = count;
	for (size_t i = 0; i < count; i++) {
		struct part *part = &joined->parts[i];

		part->profile = from[i];
		part->nodes = calloc((size_t)from[i]->node_count + 1, sizeof(*part->nodes));
		part->functions =
			calloc((size_t)from[i]->function_count + 1, sizeof(*part->functions));
		if (!part->nodes || !part->functions)
			return -ENOMEM;
	}
	return 0;
}

/* Whether all that has time has an order, on one clock. */
static bool has_order(const struct joined_profile *joined)
{
	bool has_any = false;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ls_profile *profile = joined->parts[i].profile;

		if (profile->sample_count)
			has_any = true;
		else if (profile->node_count)
			return false;
		if (joined->count > 1 && !profile->recorder.start_ms)
			return false;
	}
	return has_any;
}

static int join(struct joined_profile *joined, const struct ls_profile *const *from,
		enum joined_categories categories)
{
	struct ls_profile_recorder recorder;
	bool is_ordered = has_order(joined);
	int error = joined_recorder__make(from, joined->count, is_ordered, &recorder);

	for (size_t i = 0; !error && i < joined->count; i++) {
		struct part *part = &joined->parts[i];

		joined->lost_order |=
			!is_ordered && (from[i]->sample_count || from[i]->recorder.event_count);
		error = join_functions(joined, part);
		if (!error)
			error = join_nodes(joined, part, categories);
		if (!error && is_ordered)
			error = join_samples(joined, part, recorder.start_ms);
		if (!error && is_ordered)
			error = join_events(joined, part, recorder.start_ms);
	}
	return error ? error : profile_builder__finish(joined->builder, &recorder);
}

/* `before_count`: 0 if functions are not to be paired. */
static int make(const struct ls_profile *const *from, size_t count, size_t before_count,
		enum joined_categories categories, struct joined_profile **made)
{
	struct joined_profile *joined = calloc(1, sizeof(*joined));
	int error = joined ? allocate(joined, from, count) : -ENOMEM;

	*made = NULL;
	if (!error && before_count)
		error = paired_functions__new(from, count, before_count, &joined->paired);
	if (!error)
		error = join(joined, from, categories);
	if (error)
		joined_profile__free(joined);
	else
		*made = joined;
	return error;
}

int joined_profile__new(const struct ls_profile *const *from, size_t count,
			enum joined_categories categories, struct joined_profile **made)
{
	return make(from, count, 0, categories, made);
}

int joined_profile__new_sides(const struct ls_profile *const *from, size_t count,
			      size_t before_count, struct joined_profile **made)
{
	return make(from, count, before_count, JOINED_AS_ONE, made);
}

void joined_profile__free(struct joined_profile *joined)
{
	if (!joined)
		return;
	profile_builder__free(joined->builder);
	paired_functions__free(joined->paired);
	for (size_t i = 0; i < joined->count; i++) {
		free(joined->parts[i].nodes);
		free(joined->parts[i].functions);
	}
	free(joined->parts);
	free(joined);
}

const struct ls_profile *joined_profile__profile(const struct joined_profile *joined)
{
	return profile_builder__profile(joined->builder);
}

bool joined_profile__lost_order(const struct joined_profile *joined)
{
	return joined->lost_order;
}

uint32_t joined_profile__node(const struct joined_profile *joined, size_t index, uint32_t node)
{
	return joined->parts[index].nodes[node];
}

uint32_t joined_profile__function(const struct joined_profile *joined, size_t index,
				  uint32_t function)
{
	return joined->parts[index].functions[function];
}
