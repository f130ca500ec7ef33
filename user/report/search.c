/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/search.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_SIZE 4096

bool search__matches_name(const char *text, const char *name)
{
	bool is_exact = false;

	for (const char *at = text; *at; at++)
		is_exact |= isupper((unsigned char)*at) != 0;
	return is_exact ? strstr(name, text) != NULL : strcasestr(name, text) != NULL;
}

bool search__matches(const char *text, const struct ls_profile_function *function)
{
	const char *name = function->name && *function->name ? function->name : "<anonymous>";
	char place[PLACE_SIZE];

	if (search__matches_name(text, name))
		return true;
	if (!function->source)
		return false;
	snprintf(place, sizeof(place), "%s:%" PRIu32, function->source, function->line);
	return search__matches_name(text, function->line ? place : function->source);
}

uint8_t *search__hide_functions(const char *text, const struct ls_profile *profile)
{
	uint8_t *hidden = calloc((size_t)profile->function_count + 1, 1);

	for (uint32_t id = 1; hidden && id <= profile->function_count; id++)
		hidden[id] = !search__matches(text, &profile->functions[id]);
	return hidden;
}

uint8_t *search__hide_categories(const char *text, const struct ls_profile *profile)
{
	uint8_t *hidden = calloc((size_t)profile->category_count + 1, 1);

	for (uint32_t i = 0; hidden && i < profile->category_count; i++)
		hidden[i] = !search__matches_name(text, profile->categories[i].name);
	return hidden;
}

/* Parents have lower ids: one pass down finds what matches call, one up what leads to them. */
uint8_t *search__hide_nodes(const char *text, const struct ls_profile *profile)
{
	uint8_t *functions = search__hide_functions(text, profile);
	uint8_t *hidden = calloc((size_t)profile->node_count + 1, 1);

	if (!functions || !hidden) {
		free(functions);
		free(hidden);
		return NULL;
	}
	for (uint32_t i = 0; i < profile->category_count; i++)
		hidden[profile->categories[i].node] =
			!search__matches_name(text, profile->categories[i].name);
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];

		if (node->parent)
			hidden[id] = hidden[node->parent] && functions[node->function];
	}
	for (uint32_t id = profile->node_count; id; id--)
		if (!hidden[id])
			hidden[profile->nodes[id].parent] = 0;
	free(functions);
	return hidden;
}
