/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * speedscope's own format, as events: a frame is opened and closed where the stack changes, which
 * keeps deep trees small. There is a profile for each category and, with a timeline, for each of
 * its threads, in order of time. The axis is CPU time in microseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "derived/frame_labels.h"
#include "derived/sample_order.h"
#include "format/format.h"
#include "json/json_field.h"

/* The position in the profile that is being written. */
struct cursor {
	const struct ls_profile *profile;
	struct json_writer *writer;
	uint32_t *path; /* of open nodes, outermost first; without the category */
	uint32_t *next; /* the same, of the next sample */
	size_t depth;
	uint64_t at_us;
};

/* Labels are printable. */
/* Frames are counted from 0. */
static void put_event(struct cursor *cursor, const char *type, uint32_t node)
{
	json_writer__object(cursor->writer);
	json_field__printable(cursor->writer, "type", type);
	json_field__uint(cursor->writer, "frame", cursor->profile->nodes[node].function - 1);
	json_field__uint(cursor->writer, "at", cursor->at_us);
	json_writer__end_object(cursor->writer);
}

static void close_to(struct cursor *cursor, size_t depth)
{
	while (cursor->depth > depth)
		put_event(cursor, "C", cursor->path[--cursor->depth]);
}

/* Closes frames down to the innermost common caller, then opens those that lead to `node`. */
static void go_to(struct cursor *cursor, uint32_t node)
{
	const struct ls_profile_node *nodes = cursor->profile->nodes;
	size_t depth = 0, common = 0;

	for (uint32_t id = node; nodes[id].parent; id = nodes[id].parent)
		depth++;
	for (uint32_t id = node, i = 0; nodes[id].parent; id = nodes[id].parent)
		cursor->next[depth - ++i] = id;
	while (common < depth && common < cursor->depth &&
	       cursor->path[common] == cursor->next[common])
		common++;
	close_to(cursor, common);
	for (; common < depth; common++) {
		put_event(cursor, "O", cursor->next[common]);
		cursor->path[cursor->depth++] = cursor->next[common];
	}
}

/* Category and thread of a profile: "lua5.4, thread 42". */
static void put_name(struct json_writer *writer, const struct frame_labels *labels,
		     const struct ordered_sample *sample, bool has_timeline)
{
	const char *category = frame_labels__of_category(labels, sample->category);
	char *name = NULL;

	json_writer__key(writer, "name");
	if (!has_timeline)
		json_writer__printable(writer, category);
	else if (asprintf(&name, sample->thread ? "%s, thread %" PRIu32 : "%s, not on the timeline",
			  category, sample->thread) < 0)
		json_writer__printable(writer, category);
	else
		json_writer__printable(writer, name);
	free(name);
}

/* Puts the samples from `at` on of one category and thread. Returns the index of the next one. */
static size_t put_profile(struct cursor *cursor, const struct sample_order *order, size_t at,
			  const struct frame_labels *labels)
{
	const struct ordered_sample *first = &order->samples[at];
	struct json_writer *writer = cursor->writer;
	size_t end = sample_order__group_end(order, at);
	uint64_t all_us = 0;

	for (size_t i = at; i < end; i++)
		all_us += order->samples[i].us;
	cursor->at_us = 0;
	json_writer__object(writer);
	json_field__printable(writer, "type", "evented");
	put_name(writer, labels, first, cursor->profile->sample_count);
	json_field__printable(writer, "unit", "microseconds");
	json_field__uint(writer, "startValue", 0);
	json_field__uint(writer, "endValue", all_us);
	json_field__array_lines(writer, "events");
	for (; at < end; at++) {
		go_to(cursor, order->samples[at].node);
		cursor->at_us += order->samples[at].us;
	}
	close_to(cursor, 0);
	json_writer__end_array(writer);
	json_writer__end_object(writer);
	return end;
}

static void put_frames(struct json_writer *writer, const struct ls_profile *profile,
		       const struct frame_labels *labels)
{
	json_field__object(writer, "shared");
	json_field__array_lines(writer, "frames");
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];
		uint32_t line = function->current_line ? function->current_line : function->line;

		json_writer__object(writer);
		json_field__printable(writer, "name", frame_labels__of(labels, id));
		if (function->source)
			json_field__printable(writer, "file", frame_labels__source(labels, id));
		if (line)
			json_field__uint(writer, "line", line);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
	json_writer__end_object(writer);
}

static int put_document(struct cursor *cursor, const struct sample_order *order,
			const struct frame_labels *labels)
{
	const struct ls_profile_recorder *recorder = &cursor->profile->recorder;
	struct json_writer *writer = cursor->writer;

	json_writer__object(writer);
	json_field__printable(writer, "$schema",
			      "https://www.speedscope.app/file-format-schema.json");
	json_field__printable(writer, "exporter", "luaspy");
	if (recorder->target) {
		json_field__text(writer, "name", recorder->target);
	}
	put_frames(writer, cursor->profile, labels);
	json_field__array_lines(writer, "profiles");
	for (size_t at = 0; at < order->count;)
		at = put_profile(cursor, order, at, labels);
	json_writer__end_array(writer);
	json_writer__end_object(writer);
	return json_writer__finish(writer);
}

int write_speedscope(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_NAME);
	size_t most = (size_t)profile->node_count + 1;
	struct json_writer writer;
	struct cursor cursor = {.profile = profile,
				.writer = &writer,
				.path = calloc(most, sizeof(uint32_t)),
				.next = calloc(most, sizeof(uint32_t))};
	struct sample_order order;
	int error = sample_order__make(profile, totals, &order);

	json_writer__init(&writer, stream);
	if (!error && (!labels || !cursor.path || !cursor.next))
		error = -ENOMEM;
	if (!error)
		error = sample_order__group(&order);
	if (!error)
		error = put_document(&cursor, &order, labels);
	sample_order__free(&order);
	free(cursor.path);
	free(cursor.next);
	frame_labels__free(labels);
	return error;
}
