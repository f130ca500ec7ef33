/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads JSON (RFC 8259, UTF-8) one value at a time, in place: nothing is allocated, and strings are
 * decoded where they are. The first failure is kept, with the byte at which it is, and from then on
 * every call returns false, so it is enough to check json_reader__finish().
 *
 *	for (bool first = true; json_reader__next_key(reader, &first, &key);)
 *		if (!strcmp(key, "Line"))
 *			json_reader__uint(reader, &line);
 *		else
 *			json_reader__skip(reader);
 */
#ifndef LS_JSON_READER_H
#define LS_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How deep a skipped value may be nested. */
#define JSON_READER_SKIP_MAX 64

/* The largest number taken: beyond it, not every reader of JSON can tell numbers apart. */
#define JSON_READER_UINT_MAX ((UINT64_C(1) << 53) - 1)

/* All fields are private. */
struct json_reader {
	char *start, *at, *end;
	const char *failure; /* a sentence; NULL: none yet */
	size_t failed_at;
};

/* text[size] must be NUL. The text is borrowed and changed. */
void json_reader__init(struct json_reader *reader, char *text, size_t size);

/*
 * Enters an object, or goes on to its next member: its value has to be read next. Set *first to
 * true before the first call. False: the object is over, and was left, or a failure. *key, decoded,
 * is valid as long as the text.
 */
bool json_reader__next_key(struct json_reader *reader, bool *first, char **key);

/* The same for the elements of an array. */
bool json_reader__next_element(struct json_reader *reader, bool *first);

/* A whole number from 0 to JSON_READER_UINT_MAX. */
bool json_reader__uint(struct json_reader *reader, uint64_t *value);

/* The same, up to `most`. */
bool json_reader__uint_to(struct json_reader *reader, uint64_t most, uint64_t *value);

/* The same, of either sign: from -JSON_READER_UINT_MAX. */
bool json_reader__int(struct json_reader *reader, int64_t *value);

/* A number of any form from 0 to JSON_READER_UINT_MAX, whose fraction is cut off. */
bool json_reader__number(struct json_reader *reader, uint64_t *value);

/*
 * A string, NUL-terminated. What json_writer__bytes() wrote for a byte that is no valid UTF-8
 * becomes that byte again; U+0000 becomes the four characters \x00.
 */
bool json_reader__text(struct json_reader *reader, char **text);

/* A value of any kind, checked and not used. */
bool json_reader__skip(struct json_reader *reader);

/* Makes `failure` the first failure, if there is none, at the place that was reached. False. */
bool json_reader__fail(struct json_reader *reader, const char *failure);

bool json_reader__has_failed(const struct json_reader *reader);

/* How many bytes of the text were read: the place of a value that comes next, for messages. */
size_t json_reader__place(const struct json_reader *reader);

/* Whether there was no failure, and nothing follows but white space. */
bool json_reader__finish(struct json_reader *reader);

#endif
