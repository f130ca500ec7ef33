/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/profile_builder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An array that grows. Functions begin at 1. */
struct list {
	void *items;
	size_t count, room;
};

/* A line with the function whose it is. */
struct owned_line {
	uint32_t function;
	struct ls_profile_line line;
};

struct profile_builder {
	struct ls_profile profile;
	struct call_tree *tree;
	struct list functions, owned, lines, samples, events;
	uint32_t *slots; /* of a hash table: a function's id; 0: none */
	size_t slot_count;
};

static void *add(struct list *list, size_t size)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room + list->room / 2 : 64;
		void *items = reallocarray(list->items, room, size);

		if (!items)
			return NULL;
		list->items = items;
		list->room = room;
	}
	return (char *)list->items + size * list->count++;
}

struct profile_builder *profile_builder__new(void)
{
	struct profile_builder *builder = calloc(1, sizeof(*builder));
	struct ls_profile_function *none;

	if (!builder)
		return NULL;
	builder->tree = call_tree__new();
	none = add(&builder->functions, sizeof(*none));
	if (!builder->tree || !none) {
		profile_builder__free(builder);
		return NULL;
	}
	*none = (struct ls_profile_function){};
	return builder;
}

void profile_builder__free(struct profile_builder *builder)
{
	if (!builder)
		return;
	call_tree__free(builder->tree);
	free(builder->functions.items);
	free(builder->owned.items);
	free(builder->lines.items);
	free(builder->samples.items);
	free(builder->events.items);
	free(builder->slots);
	free(builder);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	if (!text)
		return mix(hash, 0x100);
	while (*text)
		hash = mix(hash, (unsigned char)*text++);
	return mix(hash, 0x101);
}

static uint64_t hash_function(const struct ls_profile_function *function)
{
	uint64_t hash = hash_text(hash_text(1, function->source), function->name);

	return mix(mix(mix(hash, function->line), function->flags), function->current_line);
}

static bool are_equal(const char *left, const char *right)
{
	return left && right ? !strcmp(left, right) : left == right;
}

static bool look_alike(const struct ls_profile_function *a, const struct ls_profile_function *b)
{
	return a->line == b->line && a->flags == b->flags && a->current_line == b->current_line &&
	       are_equal(a->name, b->name) && are_equal(a->source, b->source);
}

static const struct ls_profile_function *functions_of(const struct profile_builder *builder)
{
	return builder->functions.items;
}

/* The slot of a function that looks like it, or an empty one. */
static uint32_t *slot_of(const struct profile_builder *builder,
			 const struct ls_profile_function *function)
{
	size_t at = hash_function(function) & (builder->slot_count - 1);

	while (builder->slots[at] &&
	       !look_alike(&functions_of(builder)[builder->slots[at]], function))
		at = (at + 1) & (builder->slot_count - 1);
	return &builder->slots[at];
}

/* Keeps the table at most half full. */
static int make_slots(struct profile_builder *builder)
{
	size_t count = builder->slot_count ? 2 * builder->slot_count : 256;

	if (2 * builder->functions.count < builder->slot_count)
		return 0;
	free(builder->slots);
	builder->slot_count = 0;
	builder->slots = calloc(count, sizeof(*builder->slots));
	if (!builder->slots)
		return -ENOMEM;
	builder->slot_count = count;
	for (uint32_t id = 1; id < builder->functions.count; id++)
		*slot_of(builder, &functions_of(builder)[id]) = id;
	return 0;
}

uint32_t profile_builder__function(struct profile_builder *builder,
				   const struct ls_profile_function *function)
{
	struct ls_profile_function *made;
	uint32_t *slot;

	if (make_slots(builder))
		return 0;
	slot = slot_of(builder, function);
	if (*slot)
		return *slot;
	made = builder->functions.count < UINT32_MAX ? add(&builder->functions, sizeof(*made))
						     : NULL;
	if (!made)
		return 0;
	*made = (struct ls_profile_function){.source = function->source,
					     .name = function->name,
					     .line = function->line,
					     .flags = function->flags,
					     .current_line = function->current_line};
	*slot = (uint32_t)(builder->functions.count - 1);
	return *slot;
}

struct call_tree *profile_builder__tree(struct profile_builder *builder)
{
	return builder->tree;
}

int profile_builder__add_line(struct profile_builder *builder, uint32_t function,
			      const struct ls_profile_line *line)
{
	struct owned_line *owned = add(&builder->owned, sizeof(*owned));

	if (!owned)
		return -ENOMEM;
	*owned = (struct owned_line){.function = function, .line = *line};
	return 0;
}

int profile_builder__add_sample(struct profile_builder *builder,
				const struct ls_profile_sample *sample)
{
	struct ls_profile_sample *added = add(&builder->samples, sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = *sample;
	return 0;
}

int profile_builder__add_event(struct profile_builder *builder,
			       const struct ls_profile_event *event)
{
	struct ls_profile_event *added = add(&builder->events, sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = *event;
	return 0;
}

static int compare_lines(const void *left, const void *right)
{
	const struct owned_line *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->line.line > b->line.line) - (a->line.line < b->line.line);
}

static int compare_samples(const void *left, const void *right)
{
	const struct ls_profile_sample *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* By what an event is, too: the order must not depend on that of the parts. */
static int compare_events(const void *left, const void *right)
{
	const struct ls_profile_event *a = left, *b = right;
	int order;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	order = strcmp(a->kind, b->kind);
	return order ? order : strcmp(a->text ? a->text : "", b->text ? b->text : "");
}

static void sort(struct list *list, size_t size, int (*compare)(const void *, const void *))
{
	if (list->count)
		qsort(list->items, list->count, size, compare);
}

/* Makes one line of those that are the same line of the same function. */
static int join_lines(struct profile_builder *builder)
{
	struct ls_profile_function *functions = builder->functions.items;
	const struct owned_line *owned = builder->owned.items;
	struct ls_profile_line *line = NULL;

	sort(&builder->owned, sizeof(*owned), compare_lines);
	for (size_t i = 0; i < builder->owned.count; i++) {
		struct ls_profile_function *function = &functions[owned[i].function];

		if (i && !compare_lines(&owned[i - 1], &owned[i])) {
			line->self_ns += owned[i].line.self_ns;
			line->samples += owned[i].line.samples;
			continue;
		}
		line = add(&builder->lines, sizeof(*line));
		if (!line)
			return -ENOMEM;
		*line = owned[i].line;
		if (!function->line_count++)
			function->first_line = (uint32_t)builder->lines.count - 1;
	}
	return 0;
}

int profile_builder__finish(struct profile_builder *builder,
			    const struct ls_profile_recorder *recorder)
{
	struct ls_profile *profile = &builder->profile;
	int error = join_lines(builder);

	if (error)
		return error;
	sort(&builder->samples, sizeof(struct ls_profile_sample), compare_samples);
	sort(&builder->events, sizeof(struct ls_profile_event), compare_events);
	call_tree__export(builder->tree, profile);
	profile->functions = builder->functions.items;
	profile->function_count = (uint32_t)builder->functions.count - 1;
	profile->lines = builder->lines.items;
	profile->line_count = (uint32_t)builder->lines.count;
	profile->samples = builder->samples.items;
	profile->sample_count = builder->samples.count;
	profile->recorder = *recorder;
	profile->recorder.events = builder->events.items;
	profile->recorder.event_count = (uint32_t)builder->events.count;
	return 0;
}

const struct ls_profile *profile_builder__profile(const struct profile_builder *builder)
{
	return &builder->profile;
}
