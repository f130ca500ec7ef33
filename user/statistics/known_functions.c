/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "statistics/known_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/call_tree.h"

static void empty(struct known_function *function)
{
	free(function->source);
	free(function->name);
	*function = (struct known_function){0};
}

void known_functions__free(struct known_functions *known)
{
	for (uint32_t id = 1; id <= known->count; id++)
		empty(&known->by_id[id]);
	free(known->by_id);
	*known = (struct known_functions){0};
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* 0 or -ENOMEM. */
static int set_text(char **to, const char *text)
{
	char *copy = NULL;

	if (is_same_text(*to, text))
		return 0;
	if (text) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free(*to);
	*to = copy;
	return 0;
}

/* A pseudo function's name never changes; another function is still the same if its name does. */
static bool is_same(const struct known_function *known, const struct ls_profile_function *function)
{
	return known->line == function->line &&
	       known->is_native == !!(function->flags & LS_FUNCTION_NATIVE) &&
	       is_same_text(known->source, function->source) &&
	       (function->source || is_same_text(known->name, function->name));
}

bool known_functions__is_same(const struct known_functions *known, const struct ls_profile *profile,
			      uint32_t id)
{
	return id <= known->count && is_same(&known->by_id[id], &profile->functions[id]);
}

static int reserve(struct known_functions *known, uint32_t count)
{
	struct known_function *by_id;

	if (known->by_id && count <= known->count)
		return 0;
	by_id = reallocarray(known->by_id, (size_t)count + 1, sizeof(*by_id));
	if (!by_id)
		return -ENOMEM;
	if (!known->by_id)
		by_id[0] = (struct known_function){0};
	known->by_id = by_id;
	memset(by_id + known->count + 1, 0, (size_t)(count - known->count) * sizeof(*by_id));
	known->count = count;
	return 0;
}

static bool is_other(const struct ls_profile_function *function)
{
	return !function->source && function->name && !strcmp(function->name, CALL_TREE_OTHER);
}

/* 0 or -ENOMEM. */
static int take(struct known_functions *known, const struct ls_profile_function *from, uint32_t id,
		bool is_new)
{
	struct known_function *function = &known->by_id[id];
	int error;

	function->has_changed = !is_new && !is_same(function, from);
	if (known->plugins && (is_new || function->has_changed))
		function->is_plugin = patterns__fit_chunk(known->plugins, from);
	function->has_parted = !is_new && function->whole && !from->function;
	function->whole = from->function;
	function->line = from->line;
	function->is_native = from->flags & LS_FUNCTION_NATIVE;
	function->part = script_split__part(from);
	error = set_text(&function->source, from->source);
	return error ? error : set_text(&function->name, from->name);
}

int known_functions__take(struct known_functions *known, const struct ls_profile *profile,
			  bool *have_changed)
{
	uint32_t count = known->count;
	int error = reserve(known, profile->function_count);

	*have_changed = false;
	known->other = 0;
	for (uint32_t id = 1; id <= profile->function_count && !error; id++) {
		error = take(known, &profile->functions[id], id, id > count);
		*have_changed |= known->by_id[id].has_changed;
		if (is_other(&profile->functions[id]))
			known->other = id;
	}
	return error;
}
