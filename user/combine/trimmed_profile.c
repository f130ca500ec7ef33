/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/trimmed_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "combine/profile_builder.h"

#define NS_PER_MS UINT64_C(1000000)

struct trimmed_profile {
	struct profile_builder *builder;
	uint64_t left_out_ns;
};

/* A node's samples: all, those before the part, and those in it. */
struct counts {
	uint64_t all, before, inside;
};

struct trimming {
	const struct ls_profile *from;
	struct profile_builder *builder;
	uint64_t from_ns, to_ns;
	struct counts *counts; /* by old node */
	bool *is_used;         /* by old node: it or one below it has samples in the part */
	uint32_t *nodes;       /* by old node: the new one */
	struct ls_profile_recorder recorder;
};

/* Since the start of the recording. */
static uint64_t time_of(const struct trimming *trimming, const struct ls_profile_sample *sample)
{
	uint64_t start_ns = trimming->from->recorder.timed_from_ns;

	return sample->time_ns > start_ns ? sample->time_ns - start_ns : 0;
}

static uint32_t node_of(const struct trimming *trimming, const struct ls_profile_sample *sample)
{
	return trimming->from->sample_nodes ? trimming->from->sample_nodes[sample->node]
					    : sample->node;
}

static bool is_inside(const struct trimming *trimming, uint64_t time_ns)
{
	return time_ns >= trimming->from_ns && time_ns < trimming->to_ns;
}

static void count_samples(struct trimming *trimming)
{
	const struct ls_profile *from = trimming->from;

	for (size_t i = 0; i < from->sample_count; i++) {
		struct counts *counts = &trimming->counts[node_of(trimming, &from->samples[i])];
		uint64_t time_ns = time_of(trimming, &from->samples[i]);

		counts->all++;
		counts->before += time_ns < trimming->from_ns;
		counts->inside += is_inside(trimming, time_ns);
	}
	for (uint32_t id = from->node_count; id; id--) {
		trimming->is_used[id] |= trimming->counts[id].inside != 0;
		if (trimming->is_used[id])
			trimming->is_used[from->nodes[id].parent] = true;
	}
}

/* The time of a node's first `count` samples. */
static uint64_t time_until(uint64_t self_ns, uint64_t count, uint64_t all)
{
	return (uint64_t)((unsigned __int128)self_ns * count / all);
}

/* As a difference, so that the parts of a recording add up to the whole. */
static uint64_t time_inside(uint64_t self_ns, const struct counts *counts)
{
	return time_until(self_ns, counts->before + counts->inside, counts->all) -
	       time_until(self_ns, counts->before, counts->all);
}

static int place(struct trimming *trimming, uint32_t id)
{
	const struct ls_profile_node *node = &trimming->from->nodes[id];
	struct ls_profile_function function = trimming->from->functions[node->function];
	uint32_t made;

	made = profile_builder__function(trimming->builder, &function);
	trimming->nodes[id] = call_tree__child(profile_builder__tree(trimming->builder),
					       trimming->nodes[node->parent], made);
	return made && trimming->nodes[id] ? 0 : -ENOMEM;
}

/* What kind of samples these are, as far as the tree tells: others count as complete. */
static void classify(struct trimming *trimming, uint32_t id)
{
	const struct ls_profile *from = trimming->from;
	const struct ls_profile_function *function = &from->functions[from->nodes[id].function];
	enum ls_sample_class class = LS_SAMPLE_COMPLETE;

	if (!function->source && function->name && !strcmp(function->name, PROFILE_HOST))
		class = LS_SAMPLE_HOST;
	else if (!function->source && function->name && !strcmp(function->name, PROFILE_UNREADABLE))
		class = LS_SAMPLE_UNREADABLE;
	trimming->recorder.classes[class] += trimming->counts[id].inside;
	trimming->recorder.samples += trimming->counts[id].inside;
}

static int keep_nodes(struct trimming *trimming, uint64_t *left_out_ns)
{
	const struct ls_profile *from = trimming->from;
	struct call_tree *tree = profile_builder__tree(trimming->builder);

	for (uint32_t i = 0; i < from->category_count; i++) {
		uint32_t id = from->categories[i].node;

		trimming->nodes[id] = call_tree__category(tree, from->categories[i].name);
		if (!trimming->nodes[id])
			return -ENOMEM;
	}
	for (uint32_t id = 1; id <= from->node_count; id++) {
		const struct counts *counts = &trimming->counts[id];
		uint64_t self_ns = from->nodes[id].self_ns;

		*left_out_ns += counts->all ? 0 : self_ns;
		if (!trimming->is_used[id])
			continue;
		if (from->nodes[id].parent && place(trimming, id))
			return -ENOMEM;
		if (!counts->inside)
			continue;
		self_ns = time_inside(self_ns, counts);
		trimming->recorder.cpu_ns += self_ns;
		call_tree__add(tree, trimming->nodes[id], counts->inside, self_ns);
		classify(trimming, id);
	}
	return 0;
}

static int keep_samples(struct trimming *trimming)
{
	const struct ls_profile *from = trimming->from;

	for (size_t i = 0; i < from->sample_count; i++) {
		struct ls_profile_sample sample = from->samples[i];
		uint64_t time_ns = time_of(trimming, &sample);

		if (!is_inside(trimming, time_ns))
			continue;
		sample.node = trimming->nodes[node_of(trimming, &sample)];
		sample.time_ns = time_ns - trimming->from_ns;
		if (profile_builder__add_sample(trimming->builder, &sample))
			return -ENOMEM;
	}
	return 0;
}

/* How much of the part the recording was paused. */
static uint64_t paused_inside(const struct trimming *trimming)
{
	const struct ls_profile_recorder *recorder = &trimming->from->recorder;
	uint64_t since_ns = 0, paused_ns = 0;
	bool is_paused = false;

	for (uint32_t i = 0; i <= recorder->event_count; i++) {
		bool is_end = i == recorder->event_count;
		const struct ls_profile_event *event = is_end ? NULL : &recorder->events[i];
		uint64_t at_ns = is_end ? recorder->duration_ns : event->time_ns;
		uint64_t from_ns = since_ns > trimming->from_ns ? since_ns : trimming->from_ns;
		uint64_t to_ns = at_ns < trimming->to_ns ? at_ns : trimming->to_ns;

		if (is_paused && (is_end || !strcmp(event->kind, "resume"))) {
			paused_ns += to_ns > from_ns ? to_ns - from_ns : 0;
			is_paused = false;
		} else if (!is_end && !is_paused && !strcmp(event->kind, "pause")) {
			since_ns = at_ns;
			is_paused = true;
		}
	}
	return paused_ns;
}

static int keep_events(struct trimming *trimming)
{
	const struct ls_profile_recorder *recorder = &trimming->from->recorder;

	for (uint32_t i = 0; i < recorder->event_count; i++) {
		struct ls_profile_event event = recorder->events[i];

		if (!is_inside(trimming, event.time_ns))
			continue;
		event.time_ns -= trimming->from_ns;
		if (profile_builder__add_event(trimming->builder, &event))
			return -ENOMEM;
	}
	return 0;
}

/* What is known of the part: nothing that was counted over the whole. */
static void describe(struct trimming *trimming)
{
	const struct ls_profile_recorder *from = &trimming->from->recorder;
	uint64_t start_ms = trimming->from_ns / NS_PER_MS;

	trimming->recorder = (struct ls_profile_recorder){
		.version = from->version ? from->version : "",
		.host = from->host,
		.target = from->target,
		.interpreter = from->interpreter,
		.layout = from->layout,
		.gc = from->gc,
		.gc_unknown = from->gc_unknown,
		.period_ns = from->period_ns,
		.start_ms = from->start_ms ? from->start_ms + start_ms : 0,
		.duration_ns = trimming->to_ns - trimming->from_ns,
		.paused_ns = paused_inside(trimming),
	};
}

static int trim(struct trimming *trimming, uint64_t *left_out_ns)
{
	int error;

	count_samples(trimming);
	describe(trimming);
	error = keep_nodes(trimming, left_out_ns);
	if (!error)
		error = keep_samples(trimming);
	if (!error)
		error = keep_events(trimming);
	return error ? error : profile_builder__finish(trimming->builder, &trimming->recorder);
}

int trimmed_profile__new(const struct ls_profile *from, uint64_t from_ns, uint64_t to_ns,
			 struct trimmed_profile **made)
{
	struct trimming trimming = {.from = from, .from_ns = from_ns, .to_ns = to_ns};
	struct trimmed_profile *trimmed;
	int error = -ENOMEM;

	*made = NULL;
	if (!from->sample_count)
		return -EINVAL;
	trimmed = calloc(1, sizeof(*trimmed));
	if (trimmed)
		trimming.builder = trimmed->builder = profile_builder__new();
	trimming.counts = calloc((size_t)from->node_count + 1, sizeof(*trimming.counts));
	trimming.is_used = calloc((size_t)from->node_count + 1, sizeof(*trimming.is_used));
	trimming.nodes = calloc((size_t)from->node_count + 1, sizeof(*trimming.nodes));
	if (trimming.builder && trimming.counts && trimming.is_used && trimming.nodes)
		error = trim(&trimming, &trimmed->left_out_ns);
	free(trimming.counts);
	free(trimming.is_used);
	free(trimming.nodes);
	if (error)
		trimmed_profile__free(trimmed);
	else
		*made = trimmed;
	return error;
}

void trimmed_profile__free(struct trimmed_profile *trimmed)
{
	if (!trimmed)
		return;
	profile_builder__free(trimmed->builder);
	free(trimmed);
}

const struct ls_profile *trimmed_profile__profile(const struct trimmed_profile *trimmed)
{
	return profile_builder__profile(trimmed->builder);
}

uint64_t trimmed_profile__left_out_ns(const struct trimmed_profile *trimmed)
{
	return trimmed->left_out_ns;
}

bool trimmed_profile__find_mark(const struct ls_profile *profile, const char *text,
				uint64_t from_ns, uint64_t *time_ns)
{
	const struct ls_profile_recorder *recorder = &profile->recorder;

	for (uint32_t i = 0; i < recorder->event_count; i++) {
		const struct ls_profile_event *event = &recorder->events[i];

		if (strcmp(event->kind, "mark") != 0 || event->time_ns < from_ns)
			continue;
		if (text && (!event->text || strcmp(event->text, text) != 0))
			continue;
		*time_ns = event->time_ns;
		return true;
	}
	return false;
}
