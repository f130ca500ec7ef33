/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the parts of the reader: columns that grow as the text is read, and are then linked. */
#ifndef LS_READ_PROFILE_INTERNAL_H
#define LS_READ_PROFILE_INTERNAL_H

#include "json/json_reader.h"
#include "reader/read_profile.h"

/* An array that grows; element 0 of those indexed by id is unused. */
struct column {
	void *items;
	size_t count, room;
};

/* A child of a node, as the file lists it. */
struct read_edge {
	uint32_t function, node;
};

struct read_profile {
	struct ls_profile profile;
	struct json_reader json;
	int error; /* -ENOMEM, or 0 */
	char *reason;
	/*
	 * Before they are linked, nodes have their total in microseconds as self_ns, their first
	 * edge as first_child and how many edges there are as next_sibling.
	 */
	struct column nodes, edges, functions, lines, categories, samples, events;
	uint64_t version, gc;
	bool has_version, has_children; /* the latter: of version 1 */
	bool counts_samples;            /* the nodes say how many samples they have */
	uint64_t start_ms, end_ms;
};

/* The index of another element of `size` bytes, zeroed; 0 when out of memory or failed before. */
size_t read_profile__add(struct read_profile *read, struct column *column, size_t size);

/* Takes "Children" of version 1, below a category or the document. */
void read_profile__take_children(struct read_profile *read);

/* Takes "Recorder". */
void read_profile__take_recorder(struct read_profile *read);

/*
 * Makes the tree of the columns: checks it, numbers nodes so that parents come first, and computes
 * self times. Returns false, with `reason` set, if they are no tree.
 */
bool read_profile__link(struct read_profile *read);

/* Sets the reason, unless something failed before. Returns false. */
bool read_profile__refuse(struct read_profile *read, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
