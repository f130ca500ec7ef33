/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "worker/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_TEXT UINT32_MAX

static void fail(struct message *message, int error)
{
	if (!message->error)
		message->error = error;
}

void message__clear(struct message *message)
{
	message->size = message->taken = 0;
	message->error = 0;
}

void message__free(struct message *message)
{
	free(message->bytes);
	*message = (struct message){};
}

uint8_t *message__extend(struct message *message, size_t size)
{
	size_t room = message->room ? message->room : 256;
	uint8_t *bytes;

	if (size > MESSAGE_BYTES_MAX - message->size) {
		fail(message, -E2BIG);
		return NULL;
	}
	while (room - message->size < size)
		room *= 2;
	if (room != message->room) {
		bytes = realloc(message->bytes, room);
		if (!bytes) {
			fail(message, -ENOMEM);
			return NULL;
		}
		message->bytes = bytes;
		message->room = room;
	}
	message->size += size;
	return message->bytes + message->size - size;
}

void message__put(struct message *message, const void *bytes, size_t size)
{
	uint8_t *to = message__extend(message, size);

	if (to && size)
		memcpy(to, bytes, size);
}

void message__put_number(struct message *message, uint64_t number)
{
	message__put(message, &number, sizeof(number));
}

void message__put_text(struct message *message, const char *text)
{
	uint32_t length = text ? (uint32_t)strlen(text) : NO_TEXT;

	message__put(message, &length, sizeof(length));
	if (text)
		message__put(message, text, length);
}

void message__take(struct message *message, void *bytes, size_t size)
{
	if (message->error || size > message->size - message->taken) {
		fail(message, -EBADMSG);
		memset(bytes, 0, size);
		return;
	}
	if (size)
		memcpy(bytes, message->bytes + message->taken, size);
	message->taken += size;
}

uint64_t message__take_number(struct message *message, uint64_t most)
{
	uint64_t number;

	message__take(message, &number, sizeof(number));
	if (number <= most)
		return number;
	fail(message, -EBADMSG);
	return 0;
}

/* The length of the text that comes next; NO_TEXT: none does. */
static uint32_t take_length(struct message *message, size_t most)
{
	uint32_t length;

	message__take(message, &length, sizeof(length));
	if (message->error || length == NO_TEXT)
		return NO_TEXT;
	if (length <= most)
		return length;
	fail(message, -EBADMSG);
	return NO_TEXT;
}

/* Into text[length + 1]. */
static void take_characters(struct message *message, char *text, uint32_t length)
{
	message__take(message, text, length);
	text[length] = '\0';
	if (strlen(text) != length)
		fail(message, -EBADMSG);
}

char *message__take_text(struct message *message, size_t most)
{
	uint32_t length = take_length(message, most);
	char *text;

	if (length == NO_TEXT)
		return NULL;
	text = malloc((size_t)length + 1);
	if (!text) {
		fail(message, -ENOMEM);
		return NULL;
	}
	take_characters(message, text, length);
	if (!message->error)
		return text;
	free(text);
	return NULL;
}

void message__take_text_into(struct message *message, char *to, size_t size)
{
	uint32_t length = take_length(message, size - 1);

	*to = '\0';
	if (length != NO_TEXT)
		take_characters(message, to, length);
	if (message->error)
		*to = '\0';
}

int message__end(struct message *message)
{
	if (!message->error && message->taken != message->size)
		message->error = -EBADMSG;
	return message->error;
}
