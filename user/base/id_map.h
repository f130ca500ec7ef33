/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps the ids that a file gives to its items to indices. All zero, it is empty. */
#ifndef LS_ID_MAP_H
#define LS_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

struct id_map_slot {
	uint64_t id;
	uint32_t index; /* 0: the slot is free */
};

/* All fields are private. */
struct id_map {
	struct id_map_slot *slots;
	size_t count, room;
};

/* The index of an id, from 1; 0: it has none. */
uint32_t id_map__find(const struct id_map *map, uint64_t id);

/* Gives an id an index from 1. 0; -EEXIST: it has one; -ENOMEM. */
int id_map__add(struct id_map *map, uint64_t id, uint32_t index);

void id_map__clear(struct id_map *map);

#endif
