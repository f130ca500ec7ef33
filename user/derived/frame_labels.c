/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "derived/frame_labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/log.h"

/* What log__printable() makes of a byte, at most: "\xNN". */
#define ESCAPED_SIZE 4
#define EMPTY        "<empty>"

struct text {
	const char *text;
	UT_hash_handle hh; /* by itself */
};

struct frame_labels {
	const struct ls_profile *profile;
	enum frame_label_kind kind;
	char **functions, **sources, **categories; /* by id; categories by index */
	uint32_t *category_of;                     /* by node: its category's index; else unused */
};

/* NULL when out of memory. */
static char *printable(const char *text)
{
	size_t size = ESCAPED_SIZE * strlen(text) + sizeof(EMPTY);
	char *made = malloc(size);

	if (made)
		log__printable(*text ? text : EMPTY, made, size);
	return made;
}

/* ":12", or ":12, line 14" if the function is split by the line being executed. */
static void format_line(const struct ls_profile_function *function, char *to, size_t size)
{
	size_t length = 0;

	*to = '\0';
	if (function->line)
		length = (size_t)snprintf(to, size, ":%" PRIu32, function->line);
	if (function->current_line)
		snprintf(to + length, size - length, ", line %" PRIu32, function->current_line);
}

/* `place`: whether to add source and line. */
static char *make_label(const struct frame_labels *labels, uint32_t id, bool place)
{
	const struct ls_profile_function *function = &labels->profile->functions[id];
	const char *source = labels->sources[id];
	bool is_named = function->name, has_place = place && *source;
	bool is_inside = !is_named && labels->kind == FRAME_LABELS_UNIQUE;
	char line[48], *name = printable(is_named ? function->name : ""), *made = NULL;

	if (!name)
		return NULL;
	format_line(function, line, sizeof(line));
	if (!has_place)
		source = "";
	if (asprintf(&made, "%s%s%s%s%s%s%s%s", is_named ? name : "<anonymous",
		     !has_place                            ? ""
		     : labels->kind == FRAME_LABELS_UNIQUE ? " "
		     : is_named                            ? " ("
							   : "> (",
		     source, has_place ? line : "",
		     is_inside || (!is_named && !has_place) ? ">" : "",
		     has_place && labels->kind == FRAME_LABELS_PLACE ? ")" : "",
		     function->flags & LS_FUNCTION_NATIVE ? " <native>" : "",
		     function->flags & LS_FUNCTION_PLUGIN ? " <plugin>" : "") < 0)
		made = NULL;
	free(name);
	return made;
}

/*
 * Sets again[id] for each function whose label another function has, too. The table holds the
 * labels seen so far.
 */
static int find_twins(const struct frame_labels *labels, uint8_t *again)
{
	uint32_t count = labels->profile->function_count;
	struct text *texts = calloc((size_t)count + 1, sizeof(*texts)), *table = NULL;
	int error = texts ? 0 : -1;

	for (uint32_t id = 1; id <= count && !error; id++) {
		struct text *found;

		texts[id].text = labels->functions[id];
		HASH_FIND_STR(table, texts[id].text, found);
		if (found) {
			again[id] = 1;
			again[found - texts] = 1;
			continue;
		}
		HASH_ADD_KEYPTR(hh, table, texts[id].text, strlen(texts[id].text), &texts[id]);
		error = HASH_HAS_ADDED(&texts[id]) ? 0 : -1;
	}
	HASH_CLEAR(hh, table);
	free(texts);
	return error;
}

static int part_twins(struct frame_labels *labels)
{
	uint32_t count = labels->profile->function_count;
	uint8_t *again = calloc((size_t)count + 1, sizeof(*again));
	int error = again ? find_twins(labels, again) : -1;

	for (uint32_t id = 1; id <= count && !error; id++) {
		char *longer = again[id] ? make_label(labels, id, true) : NULL;

		if (!again[id])
			continue;
		if (!longer) {
			error = -1;
			break;
		}
		free(labels->functions[id]);
		labels->functions[id] = longer;
	}
	free(again);
	return error;
}

static int make_categories(struct frame_labels *labels)
{
	const struct ls_profile *profile = labels->profile;

	for (uint32_t i = 0; i < profile->category_count; i++) {
		labels->categories[i] = printable(profile->categories[i].name);
		if (!labels->categories[i])
			return -1;
		labels->category_of[profile->categories[i].node] = i;
	}
	return 0;
}

static int make_all(struct frame_labels *labels)
{
	const struct ls_profile *profile = labels->profile;

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];
		bool place = labels->kind == FRAME_LABELS_PLACE ||
			     (labels->kind == FRAME_LABELS_UNIQUE && !function->name);

		labels->sources[id] = function->source && *function->source
					      ? printable(function->source)
					      : strdup("");
		if (!labels->sources[id])
			return -1;
		labels->functions[id] = make_label(labels, id, place);
		if (!labels->functions[id])
			return -1;
	}
	if (labels->kind == FRAME_LABELS_UNIQUE && part_twins(labels))
		return -1;
	return make_categories(labels);
}

struct frame_labels *frame_labels__new(const struct ls_profile *profile, enum frame_label_kind kind)
{
	struct frame_labels *labels = calloc(1, sizeof(*labels));

	if (!labels)
		return NULL;
	labels->profile = profile;
	labels->kind = kind;
	labels->functions = calloc((size_t)profile->function_count + 1, sizeof(char *));
	labels->sources = calloc((size_t)profile->function_count + 1, sizeof(char *));
	labels->categories = calloc((size_t)profile->category_count + 1, sizeof(char *));
	labels->category_of = calloc((size_t)profile->node_count + 1, sizeof(uint32_t));
	if (labels->functions && labels->sources && labels->categories && labels->category_of &&
	    !make_all(labels))
		return labels;
	frame_labels__free(labels);
	return NULL;
}

void frame_labels__free(struct frame_labels *labels)
{
	if (!labels)
		return;
	for (uint32_t id = 1; id <= labels->profile->function_count; id++) {
		if (labels->functions)
			free(labels->functions[id]);
		if (labels->sources)
			free(labels->sources[id]);
	}
	for (uint32_t i = 0; labels->categories && i < labels->profile->category_count; i++)
		free(labels->categories[i]);
	free(labels->functions);
	free(labels->sources);
	free(labels->categories);
	free(labels->category_of);
	free(labels);
}

const char *frame_labels__of(const struct frame_labels *labels, uint32_t function)
{
	return labels->functions[function];
}

const char *frame_labels__of_category(const struct frame_labels *labels, uint32_t category)
{
	return labels->categories[category];
}

const char *frame_labels__source(const struct frame_labels *labels, uint32_t function)
{
	return labels->sources[function];
}

const char *frame_labels__of_node(const struct frame_labels *labels, uint32_t node)
{
	uint32_t function = labels->profile->nodes[node].function;

	return function ? labels->functions[function]
			: labels->categories[labels->category_of[node]];
}

static bool is_reserved_by_v8(const char *name)
{
	static const char *const names[] = {"(root)", "(program)", "(idle)", "(garbage collector)"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

const char *frame_labels__for_v8(const struct frame_labels *labels, uint32_t node,
				 char to[FRAME_LABEL_RESERVED_SIZE])
{
	const char *name = frame_labels__of_node(labels, node);

	if (!is_reserved_by_v8(name))
		return name;
	snprintf(to, FRAME_LABEL_RESERVED_SIZE, "\\x28%s", name + 1);
	return to;
}
