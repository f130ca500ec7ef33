/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/events.h"

#include <stdlib.h>
#include <string.h>

static int make_room(struct events *events)
{
	uint32_t room = events->room ? events->room * 2 : 16;
	struct ls_profile_event *items;

	if (events->count < events->room)
		return 1;
	if (events->count >= EVENTS_MAX)
		return 0;
	items = reallocarray(events->items, room, sizeof(*items));
	if (!items)
		return 0;
	events->items = items;
	events->room = room < EVENTS_MAX ? room : EVENTS_MAX;
	return 1;
}

void events__add(struct events *events, uint64_t time_ns, const char *kind, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if ((text && !copy) || !make_room(events)) {
		free(copy);
		events->left_out++;
		return;
	}
	events->items[events->count++] = (struct ls_profile_event){time_ns, kind, copy};
}

void events__free(struct events *events)
{
	for (uint32_t i = 0; i < events->count; i++)
		free((char *)events->items[i].text);
	free(events->items);
	*events = (struct events){};
}
