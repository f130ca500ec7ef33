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
#include "format/frame_labels.h"
#include "format/sample_order.h"
#include "format/trace_counters.h"
#include "json/json_field.h"

/* No process has a thread of this id (PID_MAX_LIMIT of Linux), and 0 is the idle thread's. */
#define REST_THREAD ((4U << 20) + 1)

struct slice {
	uint32_t node;
	uint64_t begin_us, end_us;
};

struct output {
	const struct ls_profile *profile;
	const struct frame_labels *labels;
	char **places; /* by function */
	struct json_writer writer;
	struct sample_order order;
	struct slice *slices; /* of a thread, in the order of their beginnings */
	size_t slice_count, slice_room;
	size_t *path;   /* open slices, outermost first */
	uint32_t *next; /* nodes of the next sample, likewise */
	size_t depth;
	struct trace_counters counters;
};

static uint32_t process_of(const struct ordered_sample *sample)
{
	return sample->category + 1;
}

static uint32_t thread_of(const struct ordered_sample *sample)
{
	return sample->thread ? sample->thread : REST_THREAD;
}

/* "process_name" or "thread_name". */
static void put_name(struct output *output, const char *what, const struct ordered_sample *sample,
		     const char *name)
{
	json_writer__object(&output->writer);
	json_field__printable(&output->writer, "name", what);
	json_field__printable(&output->writer, "ph", "M");
	json_field__uint(&output->writer, "pid", process_of(sample));
	json_field__uint(&output->writer, "tid", thread_of(sample));
	json_field__object(&output->writer, "args");
	json_field__printable(&output->writer, "name", name);
	json_writer__end_object(&output->writer);
	json_writer__end_object(&output->writer);
}

static void put_slice(struct output *output, const struct ordered_sample *sample,
		      const struct slice *slice)
{
	uint32_t function = output->profile->nodes[slice->node].function;

	json_writer__object(&output->writer);
	json_field__printable(&output->writer, "name",
			      frame_labels__of_node(output->labels, slice->node));
	json_field__printable(&output->writer, "cat", output->places[function]);
	json_field__printable(&output->writer, "ph", "X");
	json_field__uint(&output->writer, "ts", slice->begin_us);
	json_field__uint(&output->writer, "dur", slice->end_us - slice->begin_us);
	json_field__uint(&output->writer, "pid", process_of(sample));
	json_field__uint(&output->writer, "tid", thread_of(sample));
	json_writer__end_object(&output->writer);
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
		const struct ordered_sample *sample = &output->order.samples[i];

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

static int put_thread(struct output *output, size_t first, size_t end)
{
	const struct ordered_sample *sample = &output->order.samples[first];
	const char *category = frame_labels__of_category(output->labels, sample->category);
	char *name = NULL;
	int error = add_slices(output, first, end);

	if (error)
		return error;
	if (!sample->thread && asprintf(&name, "%s, not on the timeline", category) < 0)
		return -ENOMEM;
	put_name(output, "thread_name", sample, name ? name : category);
	free(name);
	for (size_t i = 0; i < output->slice_count; i++)
		put_slice(output, sample, &output->slices[i]);
	return 0;
}

/* The samples from `first` to `end` are those of a category. */
static int put_process(struct output *output, size_t first, size_t end)
{
	const struct ordered_sample *sample = &output->order.samples[first];
	size_t thread_end;
	int error = 0;

	put_name(output, "process_name", sample,
		 frame_labels__of_category(output->labels, sample->category));
	for (size_t at = first; at < end && !error; at = thread_end) {
		thread_end = sample_order__group_end(&output->order, at);
		error = put_thread(output, at, thread_end);
	}
	trace_counters__write(&output->counters, &output->writer, first, end, 0);
	return error;
}

static int put_processes(struct output *output)
{
	size_t end;
	int error = 0;

	for (size_t at = 0; at < output->order.count && !error; at = end) {
		end = sample_order__category_end(&output->order, at);
		error = put_process(output, at, end);
	}
	return error;
}

static int put_document(struct output *output)
{
	const struct ls_profile_recorder *recorder = &output->profile->recorder;
	struct json_writer *writer = &output->writer;
	int error;

	json_writer__object(writer);
	json_field__printable(&output->writer, "displayTimeUnit", "ms");
	json_field__object(writer, "metadata");
	json_field__printable(&output->writer, "source", "luaspy");
	if (recorder->target) {
		json_field__text(writer, "target", recorder->target);
	}
	json_writer__end_object(writer);
	json_field__array_lines(writer, "traceEvents");
	error = put_processes(output);
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
		const char *source = id ? frame_labels__source(output->labels, id) : "";
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
	if (!output->labels || !output->path || !output->next ||
	    trace_counters__init(&output->counters, output->profile, &output->order))
		return -ENOMEM;
	return make_places(output);
}

static void free_tables(struct output *output)
{
	for (uint32_t id = 0; output->places && id <= output->profile->function_count; id++)
		free(output->places[id]);
	free(output->places);
	free(output->slices);
	free(output->path);
	free(output->next);
	trace_counters__free(&output->counters);
	sample_order__free(&output->order);
}

int write_trace(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE);
	struct output output = {.profile = profile, .labels = labels};
	int error = sample_order__make(profile, totals, &output.order);

	json_writer__init(&output.writer, stream);
	if (!error)
		error = sample_order__group(&output.order);
	if (!error) {
		sample_order__lay_out(&output.order, profile);
		error = make_tables(&output);
	}
	if (!error)
		error = put_document(&output);
	free_tables(&output);
	frame_labels__free(labels);
	return error;
}
