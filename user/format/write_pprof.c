/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof: profile.proto of github.com/google/pprof, compressed. Each node with self time or samples
 * is a sample, with its category as a label; or, if the timeline has several threads of a category,
 * a sample for each thread, with its id as another label. Messages are written one by one, so that
 * only the current one is in memory.
 *
 * Locations have the ids of functions. The profile's functions are followed by one for each
 * category, for time without a stack. system_name stays empty: pprof would demangle it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "derived/frame_labels.h"
#include "derived/thread_shares.h"
#include "format/format.h"
#include "stream/gzip_stream.h"

#define NS_PER_US  1000
#define NS_PER_MS  1000000
#define VARINT_MAX 10

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

/* The string table: these, then name and source of each function, then categories. */
enum {
	TEXT_NONE,
	TEXT_SAMPLES,
	TEXT_COUNT,
	TEXT_CPU,
	TEXT_NANOSECONDS,
	TEXT_CATEGORY,
	TEXT_THREAD,
	TEXT_COMMENT,
	TEXT_TARGET,
	TEXT_FIRST_FUNCTION,
};

/* A message under construction. */
struct message {
	unsigned char *bytes;
	size_t size, room;
	bool has_failed; /* out of memory */
};

/*
 * The locations of a stack, encoded, the leaf first. The stack of a node is the stack of its parent
 * with one location in front, so the bytes grow from the end of the buffer to its beginning.
 */
struct stack {
	unsigned char *bytes; /* the last `used` of `room` */
	size_t used, room;
};

struct output {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	const struct frame_labels *labels;
	struct gzip_stream *gzip;
	struct message message, part;
	struct stack stack;
	uint32_t *categories; /* index, by node */
	struct thread_shares threads;
	bool has_samples;
};

static void put_byte(struct message *message, unsigned char byte)
{
	if (message->size == message->room) {
		size_t room = message->room ? 2 * message->room : 256;
		unsigned char *bytes = message->has_failed ? NULL : realloc(message->bytes, room);

		if (!bytes) {
			message->has_failed = true;
			return;
		}
		message->bytes = bytes;
		message->room = room;
	}
	message->bytes[message->size++] = byte;
}

static size_t encode_varint(uint64_t value, unsigned char to[VARINT_MAX])
{
	size_t size = 0;

	for (; value > 0x7f; value >>= 7)
		to[size++] = (unsigned char)(value | 0x80);
	to[size++] = (unsigned char)value;
	return size;
}

static void put_varint(struct message *message, uint64_t value)
{
	unsigned char bytes[VARINT_MAX];
	size_t size = encode_varint(value, bytes);

	for (size_t i = 0; i < size; i++)
		put_byte(message, bytes[i]);
}

/* Puts a number, unless it is 0, the default of a missing field. */
static void put_number(struct message *message, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_varint(message, field << 3);
	put_varint(message, value);
}

/* A message, or packed numbers, inside another one. `part` is empty afterwards. */
static void put_part(struct message *message, unsigned field, struct message *part)
{
	put_varint(message, field << 3 | 2);
	put_varint(message, part->size);
	for (size_t i = 0; i < part->size; i++)
		put_byte(message, part->bytes[i]);
	message->has_failed |= part->has_failed;
	part->size = 0;
}

/* The key and the size of a field. Returns how many bytes they take. */
static size_t encode_head(unsigned field, size_t size, unsigned char to[2 * VARINT_MAX])
{
	size_t length = encode_varint(field << 3 | 2, to);

	return length + encode_varint(size, to + length);
}

static void send_bytes(struct output *output, unsigned field, const void *bytes, size_t size)
{
	unsigned char head[2 * VARINT_MAX];

	gzip_stream__put(output->gzip, head, encode_head(field, size, head));
	gzip_stream__put(output->gzip, bytes, size);
}

/* Sends the message as a field of the profile; the message is empty afterwards. */
static void send(struct output *output, unsigned field)
{
	send_bytes(output, field, output->message.bytes, output->message.size);
	output->message.size = 0;
}

static void send_number(struct output *output, unsigned field, uint64_t value)
{
	unsigned char bytes[2 * VARINT_MAX];
	size_t size = encode_varint(field << 3, bytes);

	size += encode_varint(value, bytes + size);
	if (value)
		gzip_stream__put(output->gzip, bytes, size);
}

static void send_text(struct output *output, const char *text)
{
	send_bytes(output, PROFILE_STRING, text, strlen(text));
}

static uint64_t name_text(uint32_t function)
{
	return TEXT_FIRST_FUNCTION + 2 * ((uint64_t)function - 1);
}

/* The functions that stand for categories follow the others, and so do their texts. */
static uint32_t category_function(const struct output *output, uint32_t category)
{
	return output->profile->function_count + 1 + category;
}

static void send_texts(struct output *output)
{
	static const char *const fixed[] = {"",         "samples", "count", "cpu", "nanoseconds",
					    "category", "thread"};
	const struct ls_profile *profile = output->profile;
	char target[1024];

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		send_text(output, fixed[i]);
	send_text(output, "written by luaspy");
	send_text(output, log__printable(profile->recorder.target, target, sizeof(target)));
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		send_text(output, frame_labels__of(output->labels, id));
		send_text(output, frame_labels__source(output->labels, id));
	}
	for (uint32_t i = 0; i < profile->category_count; i++) {
		send_text(output, frame_labels__of_category(output->labels, i));
		send_text(output, "");
	}
}

static void send_type(struct output *output, unsigned field, unsigned type, unsigned unit)
{
	put_number(&output->message, VALUE_TYPE, type);
	put_number(&output->message, VALUE_UNIT, unit);
	send(output, field);
}

static void send_session(struct output *output)
{
	const struct ls_profile_recorder *recorder = &output->profile->recorder;

	if (output->has_samples)
		send_type(output, PROFILE_SAMPLE_TYPE, TEXT_SAMPLES, TEXT_COUNT);
	send_type(output, PROFILE_SAMPLE_TYPE, TEXT_CPU, TEXT_NANOSECONDS);
	send_type(output, PROFILE_PERIOD_TYPE, TEXT_CPU, TEXT_NANOSECONDS);
	send_number(output, PROFILE_PERIOD, recorder->period_ns);
	send_number(output, PROFILE_TIME_NANOS, NS_PER_MS * recorder->start_ms);
	send_number(output, PROFILE_DURATION_NANOS, recorder->duration_ns);
	send_number(output, PROFILE_COMMENT, TEXT_COMMENT);
	send_number(output, PROFILE_DEFAULT_TYPE, TEXT_CPU);
	put_number(&output->message, MAPPING_ID, 1);
	put_number(&output->message, MAPPING_FILE, TEXT_TARGET);
	put_number(&output->message, MAPPING_HAS_FUNCTIONS, 1);
	put_number(&output->message, MAPPING_HAS_FILES, 1);
	put_number(&output->message, MAPPING_HAS_LINES, 1);
	send(output, PROFILE_MAPPING);
}

static void send_function(struct output *output, uint32_t id, uint32_t start_line, uint32_t line)
{
	put_number(&output->message, FUNCTION_ID, id);
	put_number(&output->message, FUNCTION_NAME, name_text(id));
	put_number(&output->message, FUNCTION_FILE, name_text(id) + 1);
	put_number(&output->message, FUNCTION_LINE, start_line);
	send(output, PROFILE_FUNCTION);
	put_number(&output->message, LOCATION_ID, id);
	put_number(&output->message, LOCATION_MAPPING, 1);
	put_number(&output->part, LINE_FUNCTION, id);
	put_number(&output->part, LINE_LINE, line);
	put_part(&output->message, LOCATION_LINE, &output->part);
	send(output, PROFILE_LOCATION);
}

static void send_functions(struct output *output)
{
	const struct ls_profile *profile = output->profile;

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		send_function(output, id, function->line,
			      function->current_line ? function->current_line : function->line);
	}
	for (uint32_t i = 0; i < profile->category_count; i++)
		send_function(output, category_function(output, i), 0, 0);
}

/* Puts a location in front of the others. */
static void push(struct stack *stack, uint32_t location)
{
	unsigned char bytes[VARINT_MAX];
	size_t size = encode_varint(location, bytes);

	stack->used += size;
	memcpy(stack->bytes + stack->room - stack->used, bytes, size);
}

/* Removes the first location, which is this one. */
static void pop(struct stack *stack, uint32_t location)
{
	unsigned char bytes[VARINT_MAX];

	stack->used -= encode_varint(location, bytes);
}

/* Sends a sample: the stack, followed by the fields in the message. */
static void send_with_stack(struct output *output)
{
	const struct stack *stack = &output->stack;
	unsigned char head[4 * VARINT_MAX], inner[2 * VARINT_MAX];
	size_t inner_size = encode_head(SAMPLE_LOCATION, stack->used, inner);
	size_t size =
		encode_head(PROFILE_SAMPLE, inner_size + stack->used + output->message.size, head);

	memcpy(head + size, inner, inner_size);
	gzip_stream__put(output->gzip, head, size + inner_size);
	gzip_stream__put(output->gzip, stack->bytes + stack->room - stack->used, stack->used);
	gzip_stream__put(output->gzip, output->message.bytes, output->message.size);
	output->message.size = 0;
}

/* Of the current stack. `thread`: 0 if it is not known. */
static void send_share(struct output *output, uint32_t id, uint32_t thread, uint64_t us,
		       uint64_t samples)
{
	uint32_t category = category_function(output, output->categories[id]);

	if (!us && !samples)
		return;
	if (output->has_samples)
		put_varint(&output->part, samples);
	put_varint(&output->part, NS_PER_US * us);
	put_part(&output->message, SAMPLE_VALUE, &output->part);
	put_number(&output->part, LABEL_KEY, TEXT_CATEGORY);
	put_number(&output->part, LABEL_TEXT, name_text(category));
	put_part(&output->message, SAMPLE_LABEL, &output->part);
	if (thread) {
		put_number(&output->part, LABEL_KEY, TEXT_THREAD);
		put_number(&output->part, LABEL_NUMBER, thread);
		put_part(&output->message, SAMPLE_LABEL, &output->part);
	}
	send_with_stack(output);
}

/* What is not on the timeline is of no thread. */
static void send_sample(struct output *output, uint32_t id)
{
	uint64_t us = totals__node_self_us(output->profile, output->totals, id);
	uint64_t samples = output->profile->nodes[id].samples;
	size_t count;
	const struct thread_share *shares = thread_shares__of(&output->threads, id, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t seen = shares[i].samples < samples ? shares[i].samples : samples;

		send_share(output, id, shares[i].thread, shares[i].us, seen);
		us -= shares[i].us;
		samples -= seen;
	}
	send_share(output, id, 0, us, samples);
}

/* Visits all nodes below `root`, depth first; output->stack is always that of the current one. */
static void send_below(struct output *output, uint32_t root)
{
	const struct ls_profile_node *nodes = output->profile->nodes;
	struct stack *stack = &output->stack;
	uint32_t node = nodes[root].first_child;

	while (node) {
		push(stack, nodes[node].function);
		send_sample(output, node);
		if (nodes[node].first_child) {
			node = nodes[node].first_child;
			continue;
		}
		for (; node != root; node = nodes[node].parent) {
			pop(stack, nodes[node].function);
			if (nodes[node].next_sibling)
				break;
		}
		node = node == root ? 0 : nodes[node].next_sibling;
	}
}

static void send_samples(struct output *output)
{
	const struct ls_profile *profile = output->profile;

	for (uint32_t id = 1; id <= profile->node_count; id++) {
		if (profile->nodes[id].parent)
			continue;
		push(&output->stack, category_function(output, output->categories[id]));
		send_sample(output, id);
		output->stack.used = 0;
		send_below(output, id);
	}
}

/* Allocates enough for the deepest stack. Parents come before their children. */
static int make_stack(struct output *output)
{
	const struct ls_profile *profile = output->profile;
	uint32_t *depths = calloc((size_t)profile->node_count + 1, sizeof(*depths)), most = 1;

	if (!depths)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		depths[id] = depths[profile->nodes[id].parent] + 1;
		most = depths[id] > most ? depths[id] : most;
	}
	free(depths);
	output->stack.room = VARINT_MAX * (size_t)most;
	output->stack.bytes = malloc(output->stack.room);
	return output->stack.bytes ? 0 : -ENOMEM;
}

/* Collects what the samples need to know about the tree. */
static int look_at_nodes(struct output *output)
{
	const struct ls_profile *profile = output->profile;

	output->categories = calloc((size_t)profile->node_count + 1, sizeof(uint32_t));
	if (!output->categories)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->category_count; i++)
		output->categories[profile->categories[i].node] = i;
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		uint32_t parent = profile->nodes[id].parent;

		output->has_samples |= profile->nodes[id].samples != 0;
		if (parent)
			output->categories[id] = output->categories[parent];
	}
	return make_stack(output);
}

int write_pprof(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE);
	struct output output = {.profile = profile,
				.totals = totals,
				.labels = labels,
				.gzip = gzip_stream__new(stream)};
	int error = labels && output.gzip ? look_at_nodes(&output) : -ENOMEM, finished;

	if (!error)
		error = thread_shares__make(profile, totals, &output.threads);
	if (!error) {
		send_session(&output);
		send_samples(&output);
		send_functions(&output);
		send_texts(&output);
	}
	finished = gzip_stream__finish(output.gzip);
	if (!error)
		error = output.message.has_failed || output.part.has_failed ? -ENOMEM : finished;
	free(output.message.bytes);
	free(output.part.bytes);
	free(output.categories);
	free(output.threads.items);
	free(output.stack.bytes);
	frame_labels__free(labels);
	return error;
}
