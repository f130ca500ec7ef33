/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads messages in Protocol Buffers' encoding (protobuf.dev/programming-guides/encoding), a field
 * at a time, from borrowed memory. A failure ends the iteration, and is kept.
 *
 *	for (struct protobuf_field field; protobuf__next(&message, &field);)
 *		if (field.number == 1)
 *			id = field.value;
 */
#ifndef LS_PROTOBUF_H
#define LS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wire types; groups, which no current writer uses, are refused. */
enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2, /* text, a message, or packed numbers */
	PROTOBUF_FIXED32 = 5,
};

#define PROTOBUF_VARINT_MAX 10 /* bytes */

struct protobuf {
	const unsigned char *at, *end;
	bool has_failed;
};

struct protobuf_field {
	uint64_t number;
	enum protobuf_type type;
	uint64_t value;        /* of a number */
	struct protobuf bytes; /* of PROTOBUF_BYTES */
};

static inline struct protobuf protobuf__of(const void *bytes, size_t size)
{
	return (struct protobuf){.at = bytes, .end = (const unsigned char *)bytes + size};
}

/* The next field. False: there is none, or a failure. */
bool protobuf__next(struct protobuf *message, struct protobuf_field *field);

/* The next of packed numbers. False: there is none, or a failure. */
bool protobuf__next_number(struct protobuf *numbers, uint64_t *value);

#endif
