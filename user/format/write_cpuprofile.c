/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The .cpuprofile of V8, for Chrome's DevTools and VS Code. Its axis is CPU time: samples are in
 * the order in which they were taken, and each lasts for the CPU time that it stands for. So totals
 * are those of the profile, and several threads share one axis.
 *
 * To a reader, a sample lasts until the next one, and to some, the last one has no duration, so a
 * sample of the root ends the list. Times are multiples of 125 us: DevTools computes wrong self
 * times unless they are exact as binary fractions of a millisecond.
 */
#include <errno.h>
#include <stdlib.h>

#include "derived/frame_labels.h"
#include "derived/sample_order.h"
#include "format/format.h"
#include "json/json_field.h"

#define GRAIN_US 125
#define START_US 1000000 /* at 0, DevTools draws an empty chart */
#define ROOT_ID  1       /* node ids are one more than the profile's */

/* `line` counts from 1; 0: none. DevTools looks up script ids, except 0, in the inspected page. */
static void put_call_frame(struct json_writer *writer, const char *name, const char *source,
			   uint32_t line)
{
	json_field__object(writer, "callFrame");
	json_field__printable(writer, "functionName", name);
	json_field__printable(writer, "scriptId", "0");
	json_field__printable(writer, "url", source);
	json_field__int(writer, "lineNumber", (int64_t)line - 1);
	json_field__int(writer, "columnNumber", -1);
	json_writer__end_object(writer);
}

static void put_root(struct json_writer *writer, const struct ls_profile *profile)
{
	json_writer__object(writer);
	json_field__int(writer, "id", ROOT_ID);
	put_call_frame(writer, "(root)", "", 0);
	json_field__int(writer, "hitCount", 1);
	json_field__array(writer, "children");
	for (uint32_t i = 0; i < profile->category_count; i++)
		json_writer__uint(writer, ROOT_ID + (uint64_t)profile->categories[i].node);
	json_writer__end_array(writer);
	json_writer__end_object(writer);
}

static void put_node(struct json_writer *writer, const struct ls_profile *profile,
		     const struct frame_labels *labels, uint32_t id, uint64_t hits)
{
	const struct ls_profile_node *node = &profile->nodes[id];
	const struct ls_profile_function *function = &profile->functions[node->function];
	char name[FRAME_LABEL_RESERVED_SIZE];

	json_writer__object(writer);
	json_field__int(writer, "id", ROOT_ID + (int64_t)id);
	put_call_frame(writer, frame_labels__for_v8(labels, id, name),
		       node->function ? frame_labels__source(labels, node->function) : "",
		       !node->function          ? 0
		       : function->current_line ? function->current_line
						: function->line);
	json_field__int(writer, "hitCount", (int64_t)hits);
	if (node->first_child) {
		json_field__array(writer, "children");
		for (uint32_t child = node->first_child; child;
		     child = profile->nodes[child].next_sibling)
			json_writer__uint(writer, ROOT_ID + (uint64_t)child);
		json_writer__end_array(writer);
	}
	json_writer__end_object(writer);
}

static void put_nodes(struct json_writer *writer, const struct ls_profile *profile,
		      const struct frame_labels *labels, const uint64_t *hits)
{
	json_field__array_lines(writer, "nodes");
	put_root(writer, profile);
	for (uint32_t id = 1; id <= profile->node_count; id++)
		put_node(writer, profile, labels, id, hits[id]);
	json_writer__end_array(writer);
}

/* Rounds to a multiple of GRAIN_US. */
static uint64_t grained(uint64_t us)
{
	return (us + GRAIN_US / 2) / GRAIN_US * GRAIN_US;
}

static void put_samples(struct json_writer *writer, const struct sample_order *order)
{
	uint64_t us = 0, before_us = 0;

	json_field__array(writer, "samples");
	for (size_t i = 0; i < order->count; i++)
		json_writer__uint(writer, ROOT_ID + (uint64_t)order->samples[i].node);
	json_writer__uint(writer, ROOT_ID);
	json_writer__end_array(writer);
	json_field__array(writer, "timeDeltas");
	json_writer__uint(writer, 0);
	for (size_t i = 0; i < order->count; i++) {
		us += order->samples[i].us;
		json_writer__uint(writer, grained(us) - before_us);
		before_us = grained(us);
	}
	json_writer__end_array(writer);
	json_field__int(writer, "startTime", START_US);
	json_field__int(writer, "endTime", START_US + (int64_t)before_us);
}

int write_cpuprofile(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_NAME);
	uint64_t *hits = calloc((size_t)profile->node_count + 1, sizeof(*hits));
	struct json_writer writer;
	struct sample_order order;
	int error = sample_order__make(profile, totals, &order);

	if (!error && (!labels || !hits))
		error = -ENOMEM;
	if (error)
		goto cleanup;
	for (size_t i = 0; i < order.count; i++)
		hits[order.samples[i].node]++;
	json_writer__init(&writer, stream);
	json_writer__object(&writer);
	put_nodes(&writer, profile, labels, hits);
	put_samples(&writer, &order);
	json_writer__end_object(&writer);
	error = json_writer__finish(&writer);
cleanup:
	sample_order__free(&order);
	free(hits);
	frame_labels__free(labels);
	return error;
}
