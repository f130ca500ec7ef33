/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/id_map.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_LEAST 256 /* a power of two, as is every room */

/* Ids come from a file: consecutive ones, and multiples of a power of two, must not collide. */
static size_t slot_of(const struct id_map *map, uint64_t id)
{
	uint64_t hash = id * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
	size_t at = (hash ^ hash >> 32) & (map->room - 1);

	while (map->slots[at].index && map->slots[at].id != id)
		at = (at + 1) & (map->room - 1);
	return at;
}

uint32_t id_map__find(const struct id_map *map, uint64_t id)
{
	return map->room ? map->slots[slot_of(map, id)].index : 0;
}

/* Keeps the table at most half full. */
static int make_room(struct id_map *map)
{
	struct id_map wider = {.room = map->room ? 2 * map->room : ROOM_LEAST, .count = map->count};

	if (2 * (map->count + 1) <= map->room)
		return 0;
	wider.slots = calloc(wider.room, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].index)
			wider.slots[slot_of(&wider, map->slots[i].id)] = map->slots[i];
	free(map->slots);
	*map = wider;
	return 0;
}

int id_map__add(struct id_map *map, uint64_t id, uint32_t index)
{
	int error = make_room(map);
	size_t at;

	if (error)
		return error;
	at = slot_of(map, id);
	if (map->slots[at].index)
		return -EEXIST;
	map->slots[at] = (struct id_map_slot){.id = id, .index = index};
	map->count++;
	return 0;
}

void id_map__clear(struct id_map *map)
{
	free(map->slots);
	*map = (struct id_map){};
}
