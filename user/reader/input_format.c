/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/input_format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct input_format formats[] = {
#define X(id, text) {.name = #id, .title = text, .recognises = is_##id, .read = read_##id},
	LS_INPUT_FORMATS(X)
#undef X
};

const struct input_format *input_format__at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

int input_format__refuse(char reason[INPUT_REASON_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, INPUT_REASON_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static const char *skip_spaces(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

const char *input_format__first_key(const char *head)
{
	head = skip_spaces(head);
	if (*head != '{')
		return NULL;
	head = skip_spaces(head + 1);
	return *head == '"' ? head + 1 : NULL;
}

static int refuse_all(char reason[INPUT_REASON_SIZE])
{
	size_t length = (size_t)snprintf(reason, INPUT_REASON_SIZE,
					 "it is in no format that luaspy reads (accepted: ");

	for (size_t i = 0; input_format__at(i) && length < INPUT_REASON_SIZE; i++)
		length += (size_t)snprintf(reason + length, INPUT_REASON_SIZE - length, "%s%s",
					   i ? ", " : "", input_format__at(i)->title);
	if (length < INPUT_REASON_SIZE)
		snprintf(reason + length, INPUT_REASON_SIZE - length, ")");
	return -EINVAL;
}

static int read_stream(struct input_stream *stream, struct loaded_profile *loaded,
		       char reason[INPUT_REASON_SIZE])
{
	size_t size;
	const char *head = input_stream__head(stream, &size);

	if (!head)
		return input_stream__error(stream);
	if (!size)
		return input_format__refuse(reason, "it is empty");
	for (size_t i = 0; input_format__at(i); i++)
		if (input_format__at(i)->recognises(head, size))
			return input_format__at(i)->read(stream, loaded, reason);
	return refuse_all(reason);
}

int input_format__read(struct input_stream *stream, struct loaded_profile *loaded,
		       char reason[INPUT_REASON_SIZE])
{
	int error;

	*reason = '\0';
	error = read_stream(stream, loaded, reason);
	if (error == -EFBIG)
		input_format__refuse(reason, "it has more than " INPUT_STREAM_MOST_TEXT);
	else if (error == -EBADMSG)
		input_format__refuse(reason,
				     "the compressed data are damaged or cut off, after %ju bytes",
				     (uintmax_t)input_stream__place(stream));
	if (error)
		loaded_profile__clear(loaded);
	return error;
}
