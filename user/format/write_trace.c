/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace events, as Perfetto and chrome://tracing read them: a process for each category, with a
 * thread for each of the target's. A slice ("X") is a call as far as samples tell: it lasts while
 * the call is on the stack and the thread runs. Samples end when they were taken and last for the
 * CPU time that they stand for, so slices add up to the totals of the profile. Counters are those
 * of trace_counters.h.
 *
 * Readers nest slices by their times, so callers must come before callees. There are no "args",
 * which some readers append to the names. A function's source and line are its "cat".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/format.h"
#include "format/trace_events.h"
#include "json/json_field.h"

struct slice {
	uint32_t node;
	uint64_t begin_us, end_us;
};

struct output {
	const struct ls_profile *profile;
	struct trace_events events;
	char **places;        /* by function */
	struct slice *slices; /* of a thread, in the order of their beginnings */
	size_t slice_count, slice_room;
	size_t *path;   /* open slices, outermost first */
	uint32_t *next; /* nodes of the next sample, likewise */
	size_t depth;
};

static void put_slice(struct output *output, const struct ordered_sample *sample,
		      const struct slice *slice)
{
	uint32_t function = output->profile->nodes[slice->node].function;

	trace_events__open(&output->events,
			   frame_labels__of_node(output->events.labels, slice->node),
			   output->places[function], "X", sample, slice->begin_us);
	json_field__uint(&output->events.writer, "dur", slice->end_us - slice->begin_us);
	trace_events__close(&output->events);
}

static int open_slice(struct output *output, uint32_t node, uint64_t at_us)
{
	if (output->slice_count == output->slice_room) {
		size_t room = output->slice_room ? 2 * output->slice_room : 1024;
		struct slice *more = reallocarray(output->slices, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		output->slices = more;
		output->slice_room = room;
	}
	output->path[output->depth++] = output->slice_count;
	output->slices[output->slice_count++] = (struct slice){.node = node, .begin_us = at_us};
	return 0;
}

static void close_to(struct output *output, size_t depth, uint64_t at_us)
{
	while (output->depth > depth)
		output->slices[output->path[--output->depth]].end_us = at_us;
}

/* Finds the nodes below the category down to `node`; a category alone. Returns how many. */
static size_t find_path(struct output *output, uint32_t node)
{
	const struct ls_profile_node *nodes = output->profile->nodes;
	size_t depth = 0, at;

	for (uint32_t id = node; nodes[id].parent; id = nodes[id].parent)
		depth++;
	at = depth;
	for (uint32_t id = node; nodes[id].parent; id = nodes[id].parent)
		output->next[--at] = id;
	if (!depth)
		output->next[depth++] = node;
	return depth;
}

static int add_sample(struct output *output, const struct ordered_sample *sample)
{
	size_t depth = find_path(output, sample->node), common = 0;
	int error = 0;

	while (common < depth && common < output->depth &&
	       output->slices[output->path[common]].node == output->next[common])
		common++;
	close_to(output, common, sample->at_us);
	for (; common < depth && !error; common++)
		error = open_slice(output, output->next[common], sample->at_us);
	return error;
}

/* Slices of the samples from `first` to `end`, which are those of one thread. */
static int add_slices(struct output *output, size_t first, size_t end)
{
	uint64_t end_us = 0;
	int error = 0;

	output->slice_count = 0;
	for (size_t i = first; i < end && !error; i++) {
		const struct ordered_sample *sample = &output->events.order.samples[i];

		if (!sample->us)
			continue;
		if (sample->at_us > end_us)
			close_to(output, 0, end_us);
		error = add_sample(output, sample);
		end_us = sample->at_us + sample->us;
	}
	close_to(output, 0, end_us);
	return error;
}

static int put_thread(void *context, size_t first, size_t end)
{
	struct output *output = context;
	const struct ordered_sample *sample = &output->events.order.samples[first];
	const char *category = frame_labels__of_category(output->events.labels, sample->category);
	char *name = NULL;
	int error = add_slices(output, first, end);

	if (error)
		return error;
	if (!sample->thread && asprintf(&name, "%s, not on the timeline", category) < 0)
		return -ENOMEM;
	trace_events__put_thread_name(&output->events, sample, name ? name : category);
	free(name);
	for (size_t i = 0; i < output->slice_count; i++)
		put_slice(output, sample, &output->slices[i]);
	return 0;
}

static int put_document(struct output *output)
{
	struct json_writer *writer = &output->events.writer;
	int error;

	json_writer__object(writer);
	json_field__printable(writer, "displayTimeUnit", "ms");
	trace_events__put_metadata(&output->events);
	json_field__array_lines(writer, "traceEvents");
	error = trace_events__put_processes(&output->events, put_thread, output);
	json_writer__end_array(writer);
	json_writer__end_object(writer);
	return error ? error : json_writer__finish(writer);
}

static int make_places(struct output *output)
{
	const struct ls_profile *profile = output->profile;

	output->places = calloc((size_t)profile->function_count + 1, sizeof(*output->places));
	if (!output->places)
		return -ENOMEM;
	for (uint32_t id = 0; id <= profile->function_count; id++) {
		const char *source = id ? frame_labels__source(output->events.labels, id) : "";
		uint32_t line = id ? profile->functions[id].line : 0;
		int length = line ? asprintf(&output->places[id], "%s:%" PRIu32, source, line)
				  : asprintf(&output->places[id], "%s", source);

		if (length < 0) {
			output->places[id] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

static int make_tables(struct output *output)
{
	size_t most = (size_t)output->profile->node_count + 1;

	output->path = calloc(most, sizeof(*output->path));
	output->next = calloc(most, sizeof(*output->next));
	return output->path && output->next ? make_places(output) : -ENOMEM;
}

static void free_tables(struct output *output)
{
	for (uint32_t id = 0; output->places && id <= output->profile->function_count; id++)
		free(output->places[id]);
	free(output->places);
	free(output->slices);
	free(output->path);
	free(output->next);
}

int write_trace(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct output output = {.profile = profile};
	int error = trace_events__init(&output.events, profile, totals, 0, stream);

	if (!error)
		error = make_tables(&output);
	if (!error)
		error = put_document(&output);
	free_tables(&output);
	trace_events__free(&output.events);
	return error;
}
