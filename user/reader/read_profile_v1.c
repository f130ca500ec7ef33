/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Version 1 of ScriptProfiler: nested objects, {"Source,Name,Line": {TotalDuration, Children}}. The
 * outermost ones are the categories. Stacks are as deep as the file says, so nothing recurses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "reader/read_profile_internal.h"

/* A node that is being read. */
struct level {
	uint32_t node, last_child;
	bool is_first_key, is_in_children, is_first_child;
};

/* A function by the key that stands for it. */
struct known {
	const char *key;
	uint32_t function;
	UT_hash_handle hh;
};

struct reading {
	struct read_profile *read;
	struct level *levels;
	size_t depth, room;
	struct known *known;
};

static bool push(struct reading *reading, struct level level)
{
	if (reading->depth == reading->room) {
		size_t room = reading->room ? 2 * reading->room : 64;
		struct level *levels = reallocarray(reading->levels, room, sizeof(*levels));

		if (!levels) {
			reading->read->error = -ENOMEM;
			return json_reader__fail(&reading->read->json, "");
		}
		reading->levels = levels;
		reading->room = room;
	}
	reading->levels[reading->depth++] = level;
	return true;
}

/* Takes the key apart: "Source,Name,Line". What is empty is left out. */
static struct ls_profile_function split_key(char *key)
{
	struct ls_profile_function function = {};
	char *name = strchr(key, ','), *line = strrchr(key, ',');

	if (!name) {
		function.name = *key ? key : NULL;
		return function;
	}
	*line = '\0';
	function.line = (uint32_t)strtoul(line + 1, NULL, 10);
	*name = '\0';
	function.source = *key ? key : NULL;
	function.name = name < line && name[1] ? name + 1 : NULL;
	return function;
}

static bool fail_for_memory(struct read_profile *read)
{
	read->error = -ENOMEM;
	return json_reader__fail(&read->json, "");
}

/* Returns the function of a key, which is split when first seen. 0: a failure. */
static uint32_t function_of(struct reading *reading, char *key)
{
	struct read_profile *read = reading->read;
	struct known *known;
	size_t at;

	HASH_FIND_STR(reading->known, key, known);
	if (known)
		return known->function;
	at = read_profile__add(read, &read->functions, sizeof(struct ls_profile_function));
	known = at ? calloc(1, sizeof(*known)) : NULL;
	/* The key is changed below, so the table has a copy. */
	if (known)
		known->key = strdup(key);
	if (known && known->key)
		HASH_ADD_KEYPTR(hh, reading->known, known->key, strlen(known->key), known);
	if (!known || !known->key || !HASH_HAS_ADDED(known)) {
		if (known)
			free((char *)known->key);
		free(known);
		fail_for_memory(read);
		return 0;
	}
	known->function = (uint32_t)at;
	((struct ls_profile_function *)read->functions.items)[at] = split_key(key);
	return known->function;
}

static void add_category(struct read_profile *read, uint32_t node, char *key)
{
	size_t at = read_profile__add(read, &read->categories, sizeof(struct ls_profile_category));
	struct ls_profile_function parts = split_key(key);

	if (at)
		((struct ls_profile_category *)read->categories.items)[at] =
			(struct ls_profile_category){.name = parts.name     ? parts.name
							     : parts.source ? parts.source
									    : "",
						     .node = node};
}

/* Adds the child `key` to the node at the top, and enters it. */
static void enter(struct reading *reading, char *key)
{
	struct read_profile *read = reading->read;
	struct level *level = &reading->levels[reading->depth - 1];
	uint32_t function = level->node ? function_of(reading, key) : 0;
	size_t at = read_profile__add(read, &read->nodes, sizeof(struct ls_profile_node));
	struct ls_profile_node *nodes = read->nodes.items;

	if (!at)
		return;
	nodes[at].parent = level->node;
	nodes[at].function = function;
	if (!level->node)
		add_category(read, (uint32_t)at, key);
	else if (level->last_child)
		nodes[level->last_child].next_sibling = (uint32_t)at;
	else
		nodes[level->node].first_child = (uint32_t)at;
	level->last_child = (uint32_t)at;
	push(reading, (struct level){.node = (uint32_t)at, .is_first_key = true});
}

/* Takes one member of the node at the top or, if there is none, leaves the node. */
static void take_member(struct reading *reading, struct level *level)
{
	struct read_profile *read = reading->read;
	uint64_t total_us = 0;
	char *key;

	if (!json_reader__next_key(&read->json, &level->is_first_key, &key)) {
		reading->depth--;
	} else if (!strcmp(key, "TotalDuration")) {
		if (json_reader__uint(&read->json, &total_us))
			((struct ls_profile_node *)read->nodes.items)[level->node].self_ns =
				total_us;
	} else if (!strcmp(key, "Children") && !level->last_child) {
		level->is_in_children = level->is_first_child = true;
	} else {
		json_reader__skip(&read->json);
	}
}

void read_profile__take_children(struct read_profile *read)
{
	struct reading reading = {.read = read};
	struct known *known, *next;
	char *key;

	read->has_children = true;
	push(&reading, (struct level){.is_in_children = true, .is_first_child = true});
	while (reading.depth && !json_reader__has_failed(&read->json)) {
		struct level *level = &reading.levels[reading.depth - 1];

		if (!level->is_in_children)
			take_member(&reading, level);
		else if (json_reader__next_key(&read->json, &level->is_first_child, &key))
			enter(&reading, key);
		else if (level->node)
			level->is_in_children = false;
		else
			break;
	}
	HASH_ITER (hh, reading.known, known, next) {
		HASH_DEL(reading.known, known);
		free((char *)known->key);
		free(known);
	}
	free(reading.levels);
}
