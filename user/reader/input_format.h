/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The formats of recordings that luaspy reads, and which one a file is in. */
#ifndef LS_INPUT_FORMAT_H
#define LS_INPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "reader/input_format_table.h"
#include "reader/loaded_profile.h"
#include "stream/input_stream.h"

#define INPUT_REASON_SIZE READ_PROFILE_REASON_SIZE

/*
 * The most nodes that a reader of a foreign format makes: a node takes a hundred bytes in memory,
 * but may take only a few in such a file.
 */
#define INPUT_NODES_MAX      4000000
#define INPUT_NODES_MAX_TEXT "4,000,000"

/* The most samples in order of time: five hours at 1 kHz. */
#define INPUT_SAMPLES_MAX      18000000
#define INPUT_SAMPLES_MAX_TEXT "18,000,000"

/* Whether a file that begins with head[size], followed by a NUL, may be in the format. */
typedef bool input_recogniser(const char *head, size_t size);

/*
 * Reads a file to its end into `loaded`, which is empty. 0; -EINVAL: it is no such file, and
 * `reason` says where and why; or another -errno, also of the stream. The caller clears `loaded`.
 */
typedef int input_reader(struct input_stream *stream, struct loaded_profile *loaded,
			 char reason[INPUT_REASON_SIZE]);

struct input_format {
	const char *name, *title; /* see input_format_table.h */
	input_recogniser *recognises;
	input_reader *read;
};

#define X(name, title)                                                                             \
	input_recogniser is_##name;                                                                \
	input_reader read_##name;
LS_INPUT_FORMATS(X)
#undef X

/*
 * Reads a file of any of the formats, as input_reader describes it; after a failure, `loaded` is
 * empty.
 */
input_reader input_format__read;

/* By index from 0, in the table's order. NULL: there are no more. */
const struct input_format *input_format__at(size_t index);

/* For recognisers of JSON: the first key of an object, without its opening quote. NULL: none. */
const char *input_format__first_key(const char *head);

/* The help on FILE in commands that read recordings: the table as sentences. */
#define INPUT_FORMAT_HELP                                                                          \
	"A FILE is ScriptProfiler JSON of version 2 or 1, a V8 .cpuprofile, pprof's\n"             \
	"profile.proto or folded stacks, of luaspy or of another program, plain or as\n"           \
	"gzip; - is standard input."

/* Sets the reason. Returns -EINVAL. */
int input_format__refuse(char reason[INPUT_REASON_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
