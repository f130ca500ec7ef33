/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns the samples of a pprof file into nodes of a tree of locations, and sums by node. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "reader/pprof.h"

#define LABELS_SIZE 512 /* of labels as text; those beyond it are dropped */

struct sample {
	uint64_t values[PPROF_VALUES_MAX];
	uint64_t value_count;
	char labels[LABELS_SIZE]; /* "KEY:TEXT ", numbers of strings */
	size_t labels_size;
};

static int refuse(struct pprof *file, const char *what)
{
	return input_format__refuse(file->reason, "sample %zu %s", file->sample_count, what);
}

static int add_location(struct pprof *file, uint64_t id)
{
	uint64_t *added = list__add(&file->stack, sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = id;
	return 0;
}

static int add_value(struct pprof *file, struct sample *sample, uint64_t value)
{
	/* Values are signed: what shrank between two profiles is negative. */
	if (value > INT64_MAX)
		return refuse(file, "has a value below 0: profiles that are differences are not "
				    "read");
	if (sample->value_count == PPROF_VALUES_MAX)
		return refuse(file, "has too many values");
	sample->values[sample->value_count++] = value;
	return 0;
}

/* Takes a number of a field, or packed ones. */
static int take_numbers(struct pprof *file, struct sample *sample, struct protobuf_field *field)
{
	bool are_values = field->number == PPROF_SAMPLE_VALUE;
	uint64_t number = field->value;
	int error = 0;

	if (field->type != PROTOBUF_BYTES)
		return are_values ? add_value(file, sample, number) : add_location(file, number);
	while (!error && protobuf__next_number(&field->bytes, &number))
		error = are_values ? add_value(file, sample, number) : add_location(file, number);
	if (!error && field->bytes.has_failed)
		error = refuse(file, "has numbers that are cut off");
	return error;
}

static void take_label(struct sample *sample, struct protobuf *message)
{
	uint64_t key = 0, text = 0;
	char *to = sample->labels + sample->labels_size;
	size_t room = LABELS_SIZE - sample->labels_size;
	int size;

	for (struct protobuf_field field; protobuf__next(message, &field);)
		if (field.number == PPROF_LABEL_KEY)
			key = field.value;
		else if (field.number == PPROF_LABEL_TEXT)
			text = field.value;
	size = text ? snprintf(to, room, "%" PRIu64 ":%" PRIu64 " ", key, text) : 0;
	if ((size_t)size < room)
		sample->labels_size += (size_t)size;
	sample->labels[sample->labels_size] = '\0';
}

/* The number of a location in the tree; 0 when out of memory. */
static uint32_t number_of(struct pprof *file, uint64_t location)
{
	uint32_t number = id_map__find(&file->stack_ids, location);
	uint64_t *added;

	if (number)
		return number;
	added = list__add(&file->stack_locations, sizeof(*added));
	if (!added)
		return 0;
	*added = location;
	number = (uint32_t)file->stack_locations.count;
	return id_map__add(&file->stack_ids, location, number) ? 0 : number;
}

/* The step of the path at a depth from 0, added if there is none. NULL: out of memory. */
static struct pprof_step *step_at(struct pprof *file, size_t depth)
{
	return depth < file->path.count ? (struct pprof_step *)file->path.items + depth
					: list__add(&file->path, sizeof(struct pprof_step));
}

/*
 * Finds the node of the stack. Consecutive samples share most of their stacks, so the path to the
 * previous sample's node is followed as long as it is the same.
 */
static int find_node(struct pprof *file, const struct sample *sample, uint32_t *node)
{
	const uint64_t *stack = file->stack.items;
	size_t depth = 0;

	*node = call_tree__category(file->tree, sample->labels);
	if (*node != file->path_category)
		file->path.count = 0;
	file->path_category = *node;
	for (size_t i = file->stack.count; i-- > 0; depth++) {
		struct pprof_step *step = step_at(file, depth);
		uint32_t number;

		if (!step)
			return -ENOMEM;
		if (step->node && step->location == stack[i]) {
			*node = step->node;
			continue;
		}
		number = number_of(file, stack[i]);
		*node = number ? call_tree__child(file->tree, *node, number) : 0;
		if (!*node)
			return -ENOMEM;
		if (call_tree__nodes(file->tree) > INPUT_NODES_MAX)
			return refuse(file,
				      "is too much: more than " INPUT_NODES_MAX_TEXT " nodes");
		*step = (struct pprof_step){.location = stack[i], .node = *node};
		/* The rest of the previous path is not below this node. */
		file->path.count = depth + 1;
	}
	return *node ? 0 : -ENOMEM;
}

static int add_values(struct pprof *file, const struct sample *sample, uint32_t node)
{
	size_t wanted = ((size_t)call_tree__nodes(file->tree) + 1) * file->value_count;
	uint64_t *sums;

	while (file->values.count < wanted)
		if (!list__add(&file->values, sizeof(*sums)))
			return -ENOMEM;
	sums = (uint64_t *)file->values.items + (size_t)node * file->value_count;
	for (uint64_t i = 0; i < file->value_count; i++) {
		if (sample->values[i] > INT64_MAX - sums[i])
			return refuse(file, "makes a sum too large");
		sums[i] += sample->values[i];
	}
	return 0;
}

int pprof__take_sample(struct pprof *file, struct protobuf *message)
{
	struct sample sample = {};
	uint32_t node;
	int error = 0;

	file->sample_count++;
	file->stack.count = 0;
	for (struct protobuf_field field; !error && protobuf__next(message, &field);) {
		if (field.number == PPROF_SAMPLE_LOCATION || field.number == PPROF_SAMPLE_VALUE)
			error = take_numbers(file, &sample, &field);
		else if (field.number == PPROF_SAMPLE_LABEL && field.type == PROTOBUF_BYTES)
			take_label(&sample, &field.bytes);
	}
	if (error)
		return error;
	if (!file->value_count)
		file->value_count = sample.value_count;
	if (!sample.value_count || sample.value_count != file->value_count)
		return refuse(file, "has another number of values than the first one, or none");
	error = find_node(file, &sample, &node);
	return error ? error : add_values(file, &sample, node);
}
