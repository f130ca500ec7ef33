/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the parts of the reader of pprof files: the file as it was read. Its stacks are a tree
 * of locations, since the file describes locations after the samples.
 */
#ifndef LS_PPROF_H
#define LS_PPROF_H

#include "base/id_map.h"
#include "base/list.h"
#include "reader/input_format.h"
#include "reader/protobuf.h"

/* Field numbers of github.com/google/pprof, proto/profile.proto. */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME_NANOS = 9,
	PPROF_DURATION_NANOS = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_DEFAULT_TYPE = 14,
	PPROF_TYPE_NAME = 1,
	PPROF_TYPE_UNIT = 2,
	PPROF_SAMPLE_LOCATION = 1,
	PPROF_SAMPLE_VALUE = 2,
	PPROF_SAMPLE_LABEL = 3,
	PPROF_LABEL_KEY = 1,
	PPROF_LABEL_TEXT = 2,
	PPROF_MAPPING_FILE = 5,
	PPROF_LOCATION_ID = 1,
	PPROF_LOCATION_ADDRESS = 3,
	PPROF_LOCATION_LINE = 4,
	PPROF_LINE_FUNCTION = 1,
	PPROF_LINE_LINE = 2,
	PPROF_FUNCTION_ID = 1,
	PPROF_FUNCTION_NAME = 2,
	PPROF_FUNCTION_FILE = 4,
	PPROF_FUNCTION_LINE = 5,
};

/* The most values of a sample. Profiles of memory have four. */
#define PPROF_VALUES_MAX 16

/* Indices into the string table. */
struct pprof_type {
	uint64_t name, unit;
};

struct pprof_line {
	uint64_t function, line; /* the former: its id */
	uint32_t index;          /* of the function from 1, once all are known */
};

/* Each line is in a function; each function but the last was inlined into the next. */
struct pprof_location {
	uint64_t id, address;
	size_t first_line, line_count;
};

struct pprof_function {
	uint64_t id, name, file, line;
	uint32_t made; /* the profile's function */
};

/* A location of the previous sample, and its node. */
struct pprof_step {
	uint64_t location;
	uint32_t node;
};

struct pprof {
	struct loaded_profile *loaded;
	char *reason;
	struct input_stream *stream;
	struct list types;                       /* struct pprof_type */
	struct list locations, lines, functions; /* struct pprof_location and so on */
	struct id_map location_ids, function_ids;
	struct list strings, text; /* size_t: where each begins in `text`; char */
	struct list stack;         /* uint64_t: locations of a sample, leaf first */
	struct list path;          /* struct pprof_step, outermost first */
	uint32_t path_category;
	struct call_tree *tree;      /* its functions are numbers by stack_ids */
	struct id_map stack_ids;     /* of locations that stacks have */
	struct list stack_locations; /* uint64_t: their ids; the first is of number 1 */
	struct list values;          /* uint64_t: sums, value_count of each node from 1 */
	uint64_t value_count;        /* of each sample; 0: there was none yet */
	size_t sample_count;
	struct pprof_type period_type;
	uint64_t period, time_ns, duration_ns, default_type, mapping_file;
	bool has_mapping;
};

/* Makes the profile from what was read. 0; -EINVAL with the reason; -ENOMEM. */
int pprof__make(struct pprof *file);

/* Takes a Sample. 0; -EINVAL with the reason; -ENOMEM. */
int pprof__take_sample(struct pprof *file, struct protobuf *message);

/* Adds a string of bytes[size] to the table. 0; -EINVAL with the reason; -ENOMEM. */
int pprof__add_string(struct pprof *file, const void *bytes, size_t size);

#endif
