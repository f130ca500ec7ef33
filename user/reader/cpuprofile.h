/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the parts of the reader of .cpuprofile files: the file as it was read. */
#ifndef LS_CPUPROFILE_H
#define LS_CPUPROFILE_H

#include "base/id_map.h"
#include "base/list.h"
#include "json/json_reader.h"
#include "reader/input_format.h"

struct cpuprofile_node {
	uint64_t id, hits;
	struct ls_profile_function function; /* its source and line */
	char *name, *label;                  /* the latter NULL: anonymous */
	bool has_place, is_gc, is_idle;
	bool is_own; /* one of V8's own, which stands for no function */
	size_t first_edge, edge_count;
	uint32_t parent; /* index from 1; 0: none yet */
	uint32_t made;   /* the profile's node; 0: none, for the root with categories below it */
};

struct cpuprofile {
	struct loaded_profile *loaded;
	char *reason;
	struct json_reader json;
	int error;         /* -ENOMEM, or 0 */
	struct list nodes; /* struct cpuprofile_node */
	struct list edges; /* uint64_t: ids of children */
	struct id_map ids; /* of nodes; indices from 1 */
	bool has_scripts;
	struct list samples, deltas; /* uint64_t, int64_t in microseconds */
	uint64_t start_us, end_us;
	uint64_t charged_ns;
};

/* Makes the profile from what was read. 0; -EINVAL with the reason; -ENOMEM. */
int cpuprofile__make(struct cpuprofile *file);

/* Sets the reason, unless something failed before. Returns -EINVAL. */
int cpuprofile__refuse(struct cpuprofile *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
