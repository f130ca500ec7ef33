/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace that the Performance panel of Chrome's DevTools loads: a process for each category,
 * with a thread for each of the target's, each with a CPU profile in one chunk.
 *
 * A sample ends when it was taken and lasts for the CPU time that it stands for. Pauses of the
 * thread are "(idle)", and a stretch without a pause is a task: the panel shows only what lies
 * between the first and the last task. A task begins before its first sample, or the panel would
 * lose that sample.
 *
 * The panel has no place for luaspy's counters (trace_counters.h), but Perfetto, which reads this
 * file as well, shows them.
 *
 * The panel opens with the main thread of a page, whose URL must parse: the busiest thread takes
 * that role, the others keep their names. The panel's sums merge functions of the same name, so
 * labels are unique.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/frame_labels.h"
#include "format/sample_order.h"
#include "format/trace_counters.h"
#include "json/json_field.h"

#define START_US 1000000 /* at 0, the panel is empty */
#define ROOT_ID  1
#define IDLE_ID  2
#define FIRST_ID 3 /* the id of the profile's node 1 */
#define CATEGORY "disabled-by-default-devtools.timeline"

#define MAIN_THREAD "CrRendererMain" /* Chrome's name for a page's main thread */

/* No process has a thread of this id (PID_MAX_LIMIT of Linux). */
#define REST_THREAD ((4U << 20) + 1)

/* The time from which a thread is at a node of the profile, or pauses. */
struct step {
	uint32_t id;
	uint64_t at_us;
};

struct output {
	const struct ls_profile *profile;
	const struct frame_labels *labels;
	struct json_writer writer;
	struct sample_order order;
	struct trace_counters counters;
	uint32_t *marks; /* by node: the last profile that has it, from 1 */
	uint32_t *nodes; /* of the current profile */
	uint32_t node_count, profile_count;
	struct step *steps; /* of the current profile */
	size_t step_count, step_room;
	size_t busiest; /* the first sample of the thread with the most time */
};

/* The caller closes the event. `sample` is any sample of the thread. */
static void open_event(struct output *output, const char *name, const char *phase,
		       const struct ordered_sample *sample, uint64_t at_us)
{
	json_writer__object(&output->writer);
	json_field__printable(&output->writer, "name", name);
	json_field__printable(&output->writer, "cat", *phase == 'M' ? "__metadata" : CATEGORY);
	json_field__printable(&output->writer, "ph", phase);
	json_field__int(&output->writer, "pid", (int64_t)sample->category + 1);
	json_field__int(&output->writer, "tid", sample->thread ? sample->thread : REST_THREAD);
	json_field__int(&output->writer, "ts", (int64_t)at_us);
}

static void close_event(struct output *output)
{
	json_writer__end_object(&output->writer);
}

static void put_name(struct output *output, const char *what, const struct ordered_sample *sample,
		     const char *name)
{
	open_event(output, what, "M", sample, 0);
	json_field__object(&output->writer, "args");
	json_field__printable(&output->writer, "name", name);
	json_writer__end_object(&output->writer);
	close_event(output);
}

static int add_step(struct output *output, uint32_t id, uint64_t at_us)
{
	if (output->step_count == output->step_room) {
		size_t room = output->step_room ? 2 * output->step_room : 1024;
		struct step *more = reallocarray(output->steps, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		output->steps = more;
		output->step_room = room;
	}
	output->steps[output->step_count++] = (struct step){.id = id, .at_us = at_us};
	return 0;
}

/* Makes steps of the samples from `first` to `end` that have a duration; the last is a pause. */
static int make_steps(struct output *output, size_t first, size_t end)
{
	uint64_t end_us = 0;
	int error = 0;

	output->step_count = 0;
	for (size_t i = first; i < end && !error; i++) {
		const struct ordered_sample *sample = &output->order.samples[i];

		if (!sample->us)
			continue;
		if (output->step_count && sample->at_us > end_us)
			error = add_step(output, IDLE_ID, START_US + end_us);
		if (!error)
			error = add_step(output, FIRST_ID + sample->node - 1,
					 START_US + sample->at_us);
		end_us = sample->at_us + sample->us;
	}
	if (output->step_count && !error)
		error = add_step(output, IDLE_ID, START_US + end_us);
	return error;
}

static bool is_category(const struct output *output, uint32_t node)
{
	return !output->profile->nodes[node].parent;
}

static int compare_ids(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Callers have lower numbers, so they come first. A category is included if it has samples. */
static void collect_nodes(struct output *output, size_t first, size_t end)
{
	output->node_count = 0;
	output->profile_count++;
	for (size_t i = first; i < end; i++) {
		uint32_t id = output->order.samples[i].node;

		do {
			if (output->marks[id] == output->profile_count)
				break;
			output->marks[id] = output->profile_count;
			output->nodes[output->node_count++] = id;
			id = output->profile->nodes[id].parent;
		} while (id && !is_category(output, id));
	}
	qsort(output->nodes, output->node_count, sizeof(*output->nodes), compare_ids);
}

/* `line` counts from 1; 0: none. DevTools looks up script ids, except 0, in the inspected page. */
static void put_node(struct output *output, uint32_t id, uint32_t parent, const char *name,
		     const char *source, uint32_t line)
{
	json_writer__object(&output->writer);
	json_field__int(&output->writer, "id", id);
	if (parent)
		json_field__int(&output->writer, "parent", parent);
	json_field__object(&output->writer, "callFrame");
	json_field__printable(&output->writer, "functionName", name);
	json_field__printable(&output->writer, "scriptId", "0");
	json_field__printable(&output->writer, "url", source);
	json_field__int(&output->writer, "lineNumber", (int64_t)line - 1);
	json_field__int(&output->writer, "columnNumber", -1);
	json_writer__end_object(&output->writer);
	json_writer__end_object(&output->writer);
}

static void put_call(struct output *output, uint32_t node)
{
	const struct ls_profile_node *call = &output->profile->nodes[node];
	const struct ls_profile_function *function = &output->profile->functions[call->function];
	bool is_root = is_category(output, node) || is_category(output, call->parent);
	char name[FRAME_LABEL_RESERVED_SIZE];

	put_node(output, FIRST_ID + node - 1, is_root ? ROOT_ID : FIRST_ID + call->parent - 1,
		 frame_labels__for_v8(output->labels, node, name),
		 call->function ? frame_labels__source(output->labels, call->function) : "",
		 !call->function          ? 0
		 : function->current_line ? function->current_line
					  : function->line);
}

static void put_cpu_profile(struct output *output)
{
	json_field__object(&output->writer, "cpuProfile");
	json_field__array_lines(&output->writer, "nodes");
	put_node(output, ROOT_ID, 0, "(root)", "", 0);
	put_node(output, IDLE_ID, ROOT_ID, "(idle)", "", 0);
	for (uint32_t i = 0; i < output->node_count; i++)
		put_call(output, output->nodes[i]);
	json_writer__end_array(&output->writer);
	json_field__array(&output->writer, "samples");
	for (size_t i = 0; i < output->step_count; i++)
		json_writer__uint(&output->writer, output->steps[i].id);
	json_writer__end_array(&output->writer);
	json_writer__end_object(&output->writer);
}

static void open_profile_event(struct output *output, const char *name,
			       const struct ordered_sample *sample)
{
	open_event(output, name, "P", sample, output->steps[0].at_us);
	json_field__uint(&output->writer, "id", output->profile_count);
	json_field__object(&output->writer, "args");
	json_field__object(&output->writer, "data");
}

static void close_profile_event(struct output *output)
{
	json_writer__end_object(&output->writer);
	json_writer__end_object(&output->writer);
	close_event(output);
}

static void put_profile(struct output *output, const struct ordered_sample *sample)
{
	uint64_t before_us = output->steps[0].at_us;

	open_profile_event(output, "Profile", sample);
	json_field__int(&output->writer, "startTime", (int64_t)before_us);
	close_profile_event(output);
	open_profile_event(output, "ProfileChunk", sample);
	put_cpu_profile(output);
	json_field__array(&output->writer, "timeDeltas");
	for (size_t i = 0; i < output->step_count; i++) {
		json_writer__uint(&output->writer, output->steps[i].at_us - before_us);
		before_us = output->steps[i].at_us;
	}
	json_writer__end_array(&output->writer);
	close_profile_event(output);
}

static void put_tasks(struct output *output, const struct ordered_sample *sample)
{
	uint64_t begin_us = output->steps[0].at_us;

	for (size_t i = 0; i < output->step_count; i++) {
		if (output->steps[i].id != IDLE_ID)
			continue;
		open_event(output, "RunTask", "X", sample, begin_us - 1);
		json_field__int(&output->writer, "dur",
				(int64_t)(output->steps[i].at_us - begin_us) + 1);
		close_event(output);
		if (i + 1 < output->step_count)
			begin_us = output->steps[i + 1].at_us;
	}
}

static int put_thread(struct output *output, size_t first, size_t end)
{
	const struct ordered_sample *sample = &output->order.samples[first];
	const char *category = frame_labels__of_category(output->labels, sample->category);
	char *name = NULL;
	int error = make_steps(output, first, end);

	if (error || !output->step_count)
		return error;
	collect_nodes(output, first, end);
	if (asprintf(&name, sample->thread ? "%s, thread %" PRIu32 : "%s, not on the timeline",
		     category, sample->thread) < 0)
		return -ENOMEM;
	put_name(output, "thread_name", sample, first == output->busiest ? MAIN_THREAD : name);
	free(name);
	put_tasks(output, sample);
	put_profile(output, sample);
	return 0;
}

/* "file:///lua5.4/42" */
static void put_url(struct output *output, const struct ordered_sample *sample)
{
	static const char scheme[] = "file:///";
	const char *name = frame_labels__of_category(output->labels, sample->category);
	size_t length = sizeof(scheme) - 1;
	char url[256];

	memcpy(url, scheme, sizeof(scheme));
	for (; *name && length < sizeof(url) - 16; name++)
		length += (size_t)sprintf(
			url + length,
			isalnum((unsigned char)*name) || strchr("._-~", *name) ? "%c" : "%%%02X",
			(unsigned char)*name);
	if (sample->thread)
		sprintf(url + length, "/%" PRIu32, sample->thread);
	json_field__printable(&output->writer, "url", url);
}

static void put_start(struct output *output)
{
	const struct ordered_sample *sample = &output->order.samples[output->busiest];

	open_event(output, "TracingStartedInBrowser", "I", sample, START_US);
	json_field__printable(&output->writer, "s", "t");
	json_field__object(&output->writer, "args");
	json_field__object(&output->writer, "data");
	json_field__int(&output->writer, "frameTreeNodeId", 1);
	json_field__bool(&output->writer, "persistentIds", true);
	json_field__array(&output->writer, "frames");
	json_writer__object(&output->writer);
	json_field__printable(&output->writer, "frame", "1");
	put_url(output, sample);
	json_field__printable(&output->writer, "name", "");
	json_field__int(&output->writer, "processId", (int64_t)sample->category + 1);
	json_writer__end_object(&output->writer);
	json_writer__end_array(&output->writer);
	close_profile_event(output);
}

static void find_busiest(struct output *output)
{
	uint64_t most_us = 0;
	size_t end;

	for (size_t at = 0; at < output->order.count; at = end) {
		uint64_t us = 0;

		end = sample_order__group_end(&output->order, at);
		for (size_t i = at; i < end; i++)
			us += output->order.samples[i].us;
		if (us > most_us) {
			most_us = us;
			output->busiest = at;
		}
	}
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
	trace_counters__write(&output->counters, &output->writer, first, end, START_US);
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
	json_field__object(&output->writer, "metadata");
	json_field__printable(&output->writer, "source", "luaspy");
	if (recorder->target) {
		json_field__text(writer, "target", recorder->target);
	}
	json_writer__end_object(writer);
	json_field__array_lines(writer, "traceEvents");
	find_busiest(output);
	if (output->order.count)
		put_start(output);
	error = put_processes(output);
	json_writer__end_array(writer);
	json_writer__end_object(writer);
	return error ? error : json_writer__finish(writer);
}

int write_devtools(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE);
	size_t most = (size_t)profile->node_count + 1;
	struct output output = {.profile = profile,
				.labels = labels,
				.marks = calloc(most, sizeof(uint32_t)),
				.nodes = calloc(most, sizeof(uint32_t))};
	int error = sample_order__make(profile, totals, &output.order);

	json_writer__init(&output.writer, stream);
	if (!error && (!labels || !output.marks || !output.nodes))
		error = -ENOMEM;
	if (!error)
		error = sample_order__group(&output.order);
	if (!error) {
		sample_order__lay_out(&output.order, profile);
		error = trace_counters__init(&output.counters, profile, &output.order);
	}
	if (!error)
		error = put_document(&output);
	trace_counters__free(&output.counters);
	sample_order__free(&output.order);
	free(output.marks);
	free(output.nodes);
	free(output.steps);
	frame_labels__free(labels);
	return error;
}
