/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/definitions.h"

#include <errno.h>
#include <stdlib.h>

#include "source/definition_list.h"
#include "source/definitions_parser.h"

int definitions__find(const char *text, size_t size, struct definitions **definitions)
{
	struct parser parser = {.found = calloc(1, sizeof(struct definitions)),
				.scopes = calloc(SCOPES_MAX, sizeof(struct scope))};
	int error = parser.found && parser.scopes ? 0 : -ENOMEM;

	*definitions = NULL;
	lexer__start(&parser.lexer, text, size);
	if (!error) {
		parser.found->names_size = 1;
		error = parser__parse(&parser);
	}
	free(parser.scopes);
	free(parser.text);
	if (error)
		definitions__free(parser.found);
	else
		*definitions = parser.found;
	return error;
}

void definitions__free(struct definitions *definitions)
{
	if (!definitions)
		return;
	free(definitions->items);
	free(definitions->names);
	free(definitions);
}

/* The first whose last line is not before this one. */
static uint32_t find_first(const struct definitions *definitions, uint32_t last)
{
	uint32_t low = 0, high = definitions->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (definitions->items[middle].last_line < last)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *definitions__name(const struct definitions *definitions, uint32_t first, uint32_t last)
{
	const struct definition *found = NULL;

	for (uint32_t i = find_first(definitions, last); i < definitions->count; i++) {
		const struct definition *item = &definitions->items[i];

		if (item->last_line != last)
			break;
		if (item->line != first && item->open_line != first)
			continue;
		if (found)
			return NULL;
		found = item;
	}
	return found && found->name ? definitions->names + found->name : NULL;
}

size_t definitions__size(const struct definitions *definitions)
{
	return sizeof(*definitions) + definitions->room * sizeof(*definitions->items) +
	       definitions->names_room;
}
