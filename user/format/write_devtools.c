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
#include "format/trace_events.h"
#include "json/json_field.h"

#define START_US 1000000 /* at 0, the panel is empty */
#define ROOT_ID  1
#define IDLE_ID  2
#define FIRST_ID 3 /* the id of the profile's node 1 */
#define CATEGORY "disabled-by-default-devtools.timeline"

#define MAIN_THREAD "CrRendererMain" /* Chrome's name for a page's main thread */

/* The time from which a thread is at a node of the profile, or pauses. */
struct step {
	uint32_t id;
	uint64_t at_us;
};

struct output {
	const struct ls_profile *profile;
	struct trace_events events;
	uint32_t *marks; /* by node: the last profile that has it, from 1 */
	uint32_t *nodes; /* of the current profile */
	uint32_t node_count, profile_count;
	struct step *steps; /* of the current profile */
	size_t step_count, step_room;
	size_t busiest; /* the first sample of the thread with the most time */
};

static void open_event(struct output *output, const char *name, const char *phase,
		       const struct ordered_sample *sample, uint64_t at_us)
{
	trace_events__open(&output->events, name, CATEGORY, phase, sample, at_us);
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
		const struct ordered_sample *sample = &output->events.order.samples[i];

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
		uint32_t id = output->events.order.samples[i].node;

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
	json_writer__object(&output->events.writer);
	json_field__int(&output->events.writer, "id", id);
	if (parent)
		json_field__int(&output->events.writer, "parent", parent);
	json_field__object(&output->events.writer, "callFrame");
	json_field__printable(&output->events.writer, "functionName", name);
	json_field__printable(&output->events.writer, "scriptId", "0");
	json_field__printable(&output->events.writer, "url", source);
	json_field__int(&output->events.writer, "lineNumber", (int64_t)line - 1);
	json_field__int(&output->events.writer, "columnNumber", -1);
	json_writer__end_object(&output->events.writer);
	json_writer__end_object(&output->events.writer);
}

static void put_call(struct output *output, uint32_t node)
{
	const struct ls_profile_node *call = &output->profile->nodes[node];
	const struct ls_profile_function *function = &output->profile->functions[call->function];
	bool is_root = is_category(output, node) || is_category(output, call->parent);
	char name[FRAME_LABEL_RESERVED_SIZE];

	put_node(output, FIRST_ID + node - 1, is_root ? ROOT_ID : FIRST_ID + call->parent - 1,
		 frame_labels__for_v8(output->events.labels, node, name),
		 call->function ? frame_labels__source(output->events.labels, call->function) : "",
		 !call->function          ? 0
		 : function->current_line ? function->current_line
					  : function->line);
}

static void put_cpu_profile(struct output *output)
{
	json_field__object(&output->events.writer, "cpuProfile");
	json_field__array_lines(&output->events.writer, "nodes");
	put_node(output, ROOT_ID, 0, "(root)", "", 0);
	put_node(output, IDLE_ID, ROOT_ID, "(idle)", "", 0);
	for (uint32_t i = 0; i < output->node_count; i++)
		put_call(output, output->nodes[i]);
	json_writer__end_array(&output->events.writer);
	json_field__array(&output->events.writer, "samples");
	for (size_t i = 0; i < output->step_count; i++)
		json_writer__uint(&output->events.writer, output->steps[i].id);
	json_writer__end_array(&output->events.writer);
	json_writer__end_object(&output->events.writer);
}

static void open_profile_event(struct output *output, const char *name,
			       const struct ordered_sample *sample)
{
	open_event(output, name, "P", sample, output->steps[0].at_us);
	json_field__uint(&output->events.writer, "id", output->profile_count);
	json_field__object(&output->events.writer, "args");
	json_field__object(&output->events.writer, "data");
}

static void close_profile_event(struct output *output)
{
	json_writer__end_object(&output->events.writer);
	json_writer__end_object(&output->events.writer);
	trace_events__close(&output->events);
}

static void put_profile(struct output *output, const struct ordered_sample *sample)
{
	uint64_t before_us = output->steps[0].at_us;

	open_profile_event(output, "Profile", sample);
	json_field__int(&output->events.writer, "startTime", (int64_t)before_us);
	close_profile_event(output);
	open_profile_event(output, "ProfileChunk", sample);
	put_cpu_profile(output);
	json_field__array(&output->events.writer, "timeDeltas");
	for (size_t i = 0; i < output->step_count; i++) {
		json_writer__uint(&output->events.writer, output->steps[i].at_us - before_us);
		before_us = output->steps[i].at_us;
	}
	json_writer__end_array(&output->events.writer);
	close_profile_event(output);
}

static void put_tasks(struct output *output, const struct ordered_sample *sample)
{
	uint64_t begin_us = output->steps[0].at_us;

	for (size_t i = 0; i < output->step_count; i++) {
		if (output->steps[i].id != IDLE_ID)
			continue;
		open_event(output, "RunTask", "X", sample, begin_us - 1);
		json_field__int(&output->events.writer, "dur",
				(int64_t)(output->steps[i].at_us - begin_us) + 1);
		trace_events__close(&output->events);
		if (i + 1 < output->step_count)
			begin_us = output->steps[i + 1].at_us;
	}
}

static int put_thread(void *context, size_t first, size_t end)
{
	struct output *output = context;
	const struct ordered_sample *sample = &output->events.order.samples[first];
	const char *category = frame_labels__of_category(output->events.labels, sample->category);
	char *name = NULL;
	int error = make_steps(output, first, end);

	if (error || !output->step_count)
		return error;
	collect_nodes(output, first, end);
	if (asprintf(&name, sample->thread ? "%s, thread %" PRIu32 : "%s, not on the timeline",
		     category, sample->thread) < 0)
		return -ENOMEM;
	trace_events__put_thread_name(&output->events, sample,
				      first == output->busiest ? MAIN_THREAD : name);
	free(name);
	put_tasks(output, sample);
	put_profile(output, sample);
	return 0;
}

/* "file:///lua5.4/42" */
static void put_url(struct output *output, const struct ordered_sample *sample)
{
	static const char scheme[] = "file:///";
	const char *name = frame_labels__of_category(output->events.labels, sample->category);
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
	json_field__printable(&output->events.writer, "url", url);
}

static void put_start(struct output *output)
{
	const struct ordered_sample *sample = &output->events.order.samples[output->busiest];

	open_event(output, "TracingStartedInBrowser", "I", sample, START_US);
	json_field__printable(&output->events.writer, "s", "t");
	json_field__object(&output->events.writer, "args");
	json_field__object(&output->events.writer, "data");
	json_field__int(&output->events.writer, "frameTreeNodeId", 1);
	json_field__bool(&output->events.writer, "persistentIds", true);
	json_field__array(&output->events.writer, "frames");
	json_writer__object(&output->events.writer);
	json_field__printable(&output->events.writer, "frame", "1");
	put_url(output, sample);
	json_field__printable(&output->events.writer, "name", "");
	json_field__int(&output->events.writer, "processId", trace_events__process(sample));
	json_writer__end_object(&output->events.writer);
	json_writer__end_array(&output->events.writer);
	close_profile_event(output);
}

static void find_busiest(struct output *output)
{
	uint64_t most_us = 0;
	size_t end;

	for (size_t at = 0; at < output->events.order.count; at = end) {
		uint64_t us = 0;

		end = sample_order__group_end(&output->events.order, at);
		for (size_t i = at; i < end; i++)
			us += output->events.order.samples[i].us;
		if (us > most_us) {
			most_us = us;
			output->busiest = at;
		}
	}
}

static int put_document(struct output *output)
{
	struct json_writer *writer = &output->events.writer;
	int error;

	json_writer__object(writer);
	trace_events__put_metadata(&output->events);
	json_field__array_lines(writer, "traceEvents");
	find_busiest(output);
	if (output->events.order.count)
		put_start(output);
	error = trace_events__put_processes(&output->events, put_thread, output);
	json_writer__end_array(writer);
	json_writer__end_object(writer);
	return error ? error : json_writer__finish(writer);
}

int write_devtools(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	size_t most = (size_t)profile->node_count + 1;
	struct output output = {.profile = profile,
				.marks = calloc(most, sizeof(uint32_t)),
				.nodes = calloc(most, sizeof(uint32_t))};
	int error = trace_events__init(&output.events, profile, totals, START_US, stream);

	if (!error && (!output.marks || !output.nodes))
		error = -ENOMEM;
	if (!error)
		error = put_document(&output);
	trace_events__free(&output.events);
	free(output.marks);
	free(output.nodes);
	free(output.steps);
	return error;
}
