/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/definition_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX (1 << 18) /* in one text */

int definition_list__add(struct definitions *definitions, const struct definition *definition)
{
	uint32_t room = definitions->room ? definitions->room * 2 : 64;
	struct definition *items;

	if (definitions->count == definitions->room) {
		if (room > FUNCTIONS_MAX)
			return -E2BIG;
		items = reallocarray(definitions->items, room, sizeof(*items));
		if (!items)
			return -ENOMEM;
		definitions->items = items;
		definitions->room = room;
	}
	definitions->items[definitions->count++] = *definition;
	return 0;
}

int definition_list__add_name(struct definitions *definitions, const char *name, uint32_t *offset)
{
	size_t size = strlen(name) + 1, at = definitions->names_size;
	size_t room = definitions->names_room ? definitions->names_room : 1024;
	char *names;

	while (room < at + size)
		room *= 2;
	if (room > NAMES_MAX)
		return -E2BIG;
	if (room != definitions->names_room) {
		names = realloc(definitions->names, room);
		if (!names)
			return -ENOMEM;
		definitions->names = names;
		definitions->names_room = room;
	}
	memcpy(definitions->names + at, name, size);
	definitions->names_size += size;
	*offset = (uint32_t)at;
	return 0;
}
