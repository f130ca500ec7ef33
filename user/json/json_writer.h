/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes JSON directly into a stream, one value at a time. The first failure (of the stream, or a
 * call in the wrong place: -EINVAL) is kept, and nothing is written after it, so it is enough to
 * check json_writer__finish().
 */
#ifndef LS_JSON_WRITER_H
#define LS_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_WRITER_DEPTH 12

/* All fields are private. */
struct json_writer {
	FILE *stream; /* borrowed */
	int error;
	unsigned int depth;
	struct json_scope {
		bool is_object;
		bool has_lines;
		bool has_elements;
		bool has_key; /* a key was written, its value comes next */
	} scopes[JSON_WRITER_DEPTH];
};

void json_writer__init(struct json_writer *writer, FILE *stream);

/*
 * Nesting is limited to JSON_WRITER_DEPTH, the document itself included. Each element of
 * json_writer__array_lines() starts on a line of its own.
 */
void json_writer__object(struct json_writer *writer);
void json_writer__end_object(struct json_writer *writer);
void json_writer__array(struct json_writer *writer);
void json_writer__array_lines(struct json_writer *writer);
void json_writer__end_array(struct json_writer *writer);

/* `key` is luaspy's own text, not escaped. The caller ensures that an object's keys differ. */
void json_writer__key(struct json_writer *writer, const char *key);

void json_writer__uint(struct json_writer *writer, uint64_t value);
void json_writer__int(struct json_writer *writer, int64_t value);
/* A thousandth of `value`, exactly: 1250 is 1.25, as for microseconds in milliseconds. */
void json_writer__thousandths(struct json_writer *writer, uint64_t value);
void json_writer__bool(struct json_writer *writer, bool value);
void json_writer__null(struct json_writer *writer);

/*
 * Writes arbitrary bytes as a string of valid UTF-8. A byte that is not valid becomes the four
 * characters \xNN; if the bytes already contain these four characters, their backslash becomes
 * \x5c, so that different bytes give different strings. Control characters of every kind (C0, DEL,
 * C1, line separators, text direction) and "<" before "/" or "!" are written as \uNNNN, so neither
 * a terminal that shows the file nor a page that has it in a script element acts on them.
 */
void json_writer__bytes(struct json_writer *writer, const char *bytes, size_t length);
void json_writer__text(struct json_writer *writer, const char *text); /* NUL-terminated */

/*
 * Writes text that went through log__printable() as it is: what that escaped is not escaped again.
 */
void json_writer__printable(struct json_writer *writer, const char *text);

/* Ends the document with a line feed. 0 or the first failure; -EINVAL if something is open. */
int json_writer__finish(struct json_writer *writer);

#endif
