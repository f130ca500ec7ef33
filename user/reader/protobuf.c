/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/protobuf.h"

static bool fail(struct protobuf *message)
{
	message->has_failed = true;
	message->at = message->end;
	return false;
}

static bool take_varint(struct protobuf *message, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < PROTOBUF_VARINT_MAX && message->at < message->end; i++) {
		unsigned char byte = *message->at++;

		*value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return true;
	}
	return fail(message);
}

/* Takes a little-endian number of `size` bytes. */
static bool take_fixed(struct protobuf *message, size_t size, uint64_t *value)
{
	if ((size_t)(message->end - message->at) < size)
		return fail(message);
	*value = 0;
	for (size_t i = 0; i < size; i++)
		*value |= (uint64_t)*message->at++ << 8 * i;
	return true;
}

static bool take_bytes(struct protobuf *message, struct protobuf *bytes)
{
	uint64_t size;

	if (!take_varint(message, &size))
		return false;
	if (size > (uint64_t)(message->end - message->at))
		return fail(message);
	*bytes = protobuf__of(message->at, size);
	message->at += size;
	return true;
}

bool protobuf__next(struct protobuf *message, struct protobuf_field *field)
{
	uint64_t tag;

	if (message->at == message->end || !take_varint(message, &tag))
		return false;
	*field = (struct protobuf_field){.number = tag >> 3, .type = (enum protobuf_type)(tag & 7)};
	switch (field->type) {
	case PROTOBUF_VARINT:
		return take_varint(message, &field->value);
	case PROTOBUF_FIXED64:
		return take_fixed(message, 8, &field->value);
	case PROTOBUF_FIXED32:
		return take_fixed(message, 4, &field->value);
	case PROTOBUF_BYTES:
		return take_bytes(message, &field->bytes);
	}
	return fail(message);
}

bool protobuf__next_number(struct protobuf *numbers, uint64_t *value)
{
	return numbers->at < numbers->end && take_varint(numbers, value);
}
