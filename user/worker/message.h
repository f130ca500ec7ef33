/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A buffer of values that one process sends to another. The reader takes them out in the order in
 * which the writer put them in, and trusts none: a missing or oversized value is an error.
 */
#ifndef LS_MESSAGE_H
#define LS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* More than the largest answer takes: the names of 65,536 functions. */
#define MESSAGE_BYTES_MAX (16U << 20)

/* Zeroed: an empty message. */
struct message {
	uint8_t *bytes;
	size_t size, room;
	size_t taken; /* bytes that were read so far */
	int error;    /* the first that occurred: -ENOMEM, -E2BIG, -EBADMSG; 0: none */
};

/* Empties the message and keeps its memory. */
void message__clear(struct message *message);
void message__free(struct message *message);

/* Append a value; `text` may be NULL. On failure message->error is set. */
void message__put(struct message *message, const void *bytes, size_t size);
void message__put_number(struct message *message, uint64_t number);
void message__put_text(struct message *message, const char *text);

/* Appends `size` bytes for the caller to fill in. NULL: -E2BIG or -ENOMEM in message->error. */
uint8_t *message__extend(struct message *message, size_t size);

/* Takes the next `size` bytes. If there are fewer, fills in zeros and sets message->error. */
void message__take(struct message *message, void *bytes, size_t size);

/* Takes the next number. 0, and message->error is set: there is none, or it exceeds `most`. */
uint64_t message__take_number(struct message *message, uint64_t most);

/*
 * Takes the next text of at most `most` bytes; the caller frees it. NULL: the writer put NULL in,
 * or message->error is set.
 */
char *message__take_text(struct message *message, size_t most);

/* The same into to[size]. A text that does not fit is an error; it is not cut off. */
void message__take_text_into(struct message *message, char *to, size_t size);

/* 0 if all was taken out without an error; else -errno. */
int message__end(struct message *message);

#endif
