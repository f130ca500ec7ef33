/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof: profile.proto of github.com/google/pprof, compressed or not. It is read message by
 * message, so memory holds only the current one and what the profile needs.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader/pprof.h"
#include "reader/protobuf.h"

/* A message of the profile: a sample a million frames deep takes four megabytes. */
#define MESSAGE_MAX      (UINT64_C(16) << 20)
#define MESSAGE_MAX_TEXT "16 MiB"

static int refuse(struct pprof *file, const char *what)
{
	return input_format__refuse(file->reason, "%s, in front of byte %ju of its content", what,
				    (uintmax_t)input_stream__place(file->stream));
}

static bool make_text_room(struct pprof *file, size_t more)
{
	struct list *text = &file->text;
	size_t room = text->count + text->count / 2 + more;
	char *items;

	if (text->room - text->count >= more)
		return true;
	items = realloc(text->items, room);
	if (!items)
		return false;
	text->items = items;
	text->room = room;
	return true;
}

int pprof__add_string(struct pprof *file, const void *bytes, size_t size)
{
	size_t *start;
	char *text;

	if (memchr(bytes, '\0', size))
		return refuse(file, "a string has a NUL");
	if (size > INPUT_STREAM_MOST - file->text.count)
		return refuse(file, "more than " INPUT_STREAM_MOST_TEXT " of text");
	start = list__add(&file->strings, sizeof(*start));
	if (!start || !make_text_room(file, size + 1))
		return -ENOMEM;
	*start = file->text.count;
	text = (char *)file->text.items + file->text.count;
	memcpy(text, bytes, size);
	text[size] = '\0';
	file->text.count += size + 1;
	return 0;
}

static struct pprof_type take_type(struct protobuf *message)
{
	struct pprof_type type = {};

	for (struct protobuf_field field; protobuf__next(message, &field);)
		if (field.number == PPROF_TYPE_NAME)
			type.name = field.value;
		else if (field.number == PPROF_TYPE_UNIT)
			type.unit = field.value;
	return type;
}

static int take_sample_type(struct pprof *file, struct protobuf *message)
{
	struct pprof_type *type = list__add(&file->types, sizeof(*type));

	if (!type)
		return -ENOMEM;
	*type = take_type(message);
	return file->types.count > PPROF_VALUES_MAX ? refuse(file, "too many sample types") : 0;
}

/* The first mapping is the program. */
static void take_mapping(struct pprof *file, struct protobuf *message)
{
	for (struct protobuf_field field; protobuf__next(message, &field);)
		if (field.number == PPROF_MAPPING_FILE && !file->has_mapping)
			file->mapping_file = field.value;
	file->has_mapping = true;
}

static int take_line(struct pprof *file, struct protobuf *message)
{
	struct pprof_line *line;

	if (file->lines.count == INPUT_NODES_MAX)
		return refuse(file, "more than " INPUT_NODES_MAX_TEXT " lines");
	line = list__add(&file->lines, sizeof(*line));
	if (!line)
		return -ENOMEM;
	for (struct protobuf_field field; protobuf__next(message, &field);)
		if (field.number == PPROF_LINE_FUNCTION)
			line->function = field.value;
		else if (field.number == PPROF_LINE_LINE)
			line->line = field.value;
	return message->has_failed ? refuse(file, "a line is no valid message") : 0;
}

static int add_id(struct pprof *file, struct id_map *ids, uint64_t id, size_t index,
		  const char *twice)
{
	int error = id_map__add(ids, id, (uint32_t)index);

	return error == -EEXIST ? refuse(file, twice) : error;
}

static int take_location(struct pprof *file, struct protobuf *message)
{
	struct pprof_location location = {.first_line = file->lines.count}, *added;
	int error = 0;

	for (struct protobuf_field field; !error && protobuf__next(message, &field);) {
		if (field.number == PPROF_LOCATION_ID)
			location.id = field.value;
		else if (field.number == PPROF_LOCATION_ADDRESS)
			location.address = field.value;
		else if (field.number == PPROF_LOCATION_LINE && field.type == PROTOBUF_BYTES)
			error = take_line(file, &field.bytes);
	}
	location.line_count = file->lines.count - location.first_line;
	if (error)
		return error;
	if (file->locations.count == INPUT_NODES_MAX)
		return refuse(file, "more than " INPUT_NODES_MAX_TEXT " locations");
	added = list__add(&file->locations, sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = location;
	return add_id(file, &file->location_ids, location.id, file->locations.count,
		      "two locations have one id");
}

static int take_function(struct pprof *file, struct protobuf *message)
{
	struct pprof_function *function;

	if (file->functions.count == INPUT_NODES_MAX)
		return refuse(file, "more than " INPUT_NODES_MAX_TEXT " functions");
	function = list__add(&file->functions, sizeof(*function));
	if (!function)
		return -ENOMEM;
	for (struct protobuf_field field; protobuf__next(message, &field);)
		if (field.number == PPROF_FUNCTION_ID)
			function->id = field.value;
		else if (field.number == PPROF_FUNCTION_NAME)
			function->name = field.value;
		else if (field.number == PPROF_FUNCTION_FILE)
			function->file = field.value;
		else if (field.number == PPROF_FUNCTION_LINE)
			function->line = field.value;
	return add_id(file, &file->function_ids, function->id, file->functions.count,
		      "two functions have one id");
}

static int take_bytes(struct pprof *file, uint64_t number, struct protobuf *bytes)
{
	int error = 0;

	if (number == PPROF_SAMPLE)
		error = pprof__take_sample(file, bytes);
	else if (number == PPROF_LOCATION)
		error = take_location(file, bytes);
	else if (number == PPROF_FUNCTION)
		error = take_function(file, bytes);
	else if (number == PPROF_STRING && file->strings.count == INPUT_NODES_MAX)
		error = refuse(file, "more than " INPUT_NODES_MAX_TEXT " strings");
	else if (number == PPROF_STRING)
		error = pprof__add_string(file, bytes->at, (size_t)(bytes->end - bytes->at));
	else if (number == PPROF_SAMPLE_TYPE)
		error = take_sample_type(file, bytes);
	else if (number == PPROF_MAPPING)
		take_mapping(file, bytes);
	else if (number == PPROF_PERIOD_TYPE)
		file->period_type = take_type(bytes);
	return error || !bytes->has_failed ? error : refuse(file, "a field is no valid message");
}

static void take_number(struct pprof *file, uint64_t number, uint64_t value)
{
	if (number == PPROF_TIME_NANOS)
		file->time_ns = value;
	else if (number == PPROF_DURATION_NANOS)
		file->duration_ns = value;
	else if (number == PPROF_PERIOD)
		file->period = value;
	else if (number == PPROF_DEFAULT_TYPE)
		file->default_type = value;
}

/* Appends a varint of the stream to `bytes`. False: the input ends, fails, or has no varint. */
static bool copy_varint(struct pprof *file, unsigned char *bytes, size_t *size)
{
	unsigned char byte = 0x80;
	size_t first = *size;

	while (byte & 0x80 && *size - first < PROTOBUF_VARINT_MAX) {
		if (input_stream__read(file->stream, &byte, 1) != 1)
			return false;
		bytes[(*size)++] = byte;
	}
	return !(byte & 0x80);
}

/* How many bytes of a field are left in the stream. */
static uint64_t rest_of_field(const unsigned char *bytes, size_t size, size_t tag_size)
{
	struct protobuf length = protobuf__of(bytes + tag_size, size - tag_size);
	uint64_t rest = 0;

	if ((bytes[0] & 7) == PROTOBUF_BYTES)
		protobuf__next_number(&length, &rest);
	else if ((bytes[0] & 7) == PROTOBUF_FIXED64)
		rest = 8;
	else if ((bytes[0] & 7) == PROTOBUF_FIXED32)
		rest = 4;
	return rest;
}

/* Reads a field of the profile into *bytes, which grows. 1; 0: end of input; or -errno. */
static int read_field(struct pprof *file, unsigned char **bytes, size_t *room, size_t *size)
{
	uint64_t rest;
	size_t tag_size;
	bool has_length;

	*size = 0;
	if (!copy_varint(file, *bytes, size))
		return *size ? refuse(file, "it is cut off or no profile.proto") : 0;
	tag_size = *size;
	has_length = ((*bytes)[0] & 7) == PROTOBUF_BYTES || ((*bytes)[0] & 7) == PROTOBUF_VARINT;
	if (has_length && !copy_varint(file, *bytes, size))
		return refuse(file, "it is cut off or no profile.proto");
	rest = rest_of_field(*bytes, *size, tag_size);
	if (rest > MESSAGE_MAX)
		return refuse(file, "a field is larger than " MESSAGE_MAX_TEXT);
	if (*size + rest > *room) {
		unsigned char *longer = realloc(*bytes, *size + 2 * rest);

		if (!longer)
			return -ENOMEM;
		*bytes = longer;
		*room = *size + 2 * rest;
	}
	if (input_stream__read(file->stream, *bytes + *size, rest) != (ssize_t)rest)
		return refuse(file, "it is cut off");
	*size += rest;
	return 1;
}

static int read_fields(struct pprof *file)
{
	size_t room = 256, size;
	unsigned char *bytes = malloc(room);
	int status = bytes ? 1 : -ENOMEM;

	while (status == 1 && (status = read_field(file, &bytes, &room, &size)) == 1) {
		struct protobuf message = protobuf__of(bytes, size);
		struct protobuf_field field;
		int error;

		if (!protobuf__next(&message, &field))
			error = refuse(file, "a field is not valid");
		else if (field.type == PROTOBUF_BYTES)
			error = take_bytes(file, field.number, &field.bytes);
		else
			error = 0;
		if (!error && field.type == PROTOBUF_VARINT)
			take_number(file, field.number, field.value);
		status = error ? error : 1;
	}
	free(bytes);
	/* Report a failure of the stream rather than the truncated message that it caused. */
	return input_stream__error(file->stream) ? input_stream__error(file->stream) : status;
}

/* A message of small numbers has control characters at its beginning. */
bool is_pprof(const char *head, size_t size)
{
	for (size_t i = 0; i < size && i < 64; i++)
		if ((unsigned char)head[i] < ' ' && !strchr("\t\n\r", head[i]))
			return true;
	return size && memchr(head, '\0', size);
}

int read_pprof(struct input_stream *stream, struct loaded_profile *loaded,
	       char reason[INPUT_REASON_SIZE])
{
	struct pprof file = {
		.loaded = loaded, .reason = reason, .stream = stream, .tree = call_tree__new()};
	int error;

	loaded->builder = profile_builder__new();
	error = loaded->builder && file.tree ? read_fields(&file) : -ENOMEM;
	if (!error)
		error = pprof__make(&file);
	call_tree__free(file.tree);
	id_map__clear(&file.location_ids);
	id_map__clear(&file.function_ids);
	id_map__clear(&file.stack_ids);
	free(file.types.items);
	free(file.locations.items);
	free(file.lines.items);
	free(file.functions.items);
	free(file.strings.items);
	free(file.stack.items);
	free(file.path.items);
	free(file.stack_locations.items);
	free(file.values.items);
	/* The profile's names point into it. */
	loaded->text = file.text.items;
	return error;
}
