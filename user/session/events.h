/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of a session in chronological order: pauses, marks and the like. */
#ifndef LS_EVENTS_H
#define LS_EVENTS_H

#include "profile/profile.h"

/* Limits the memory for marks: 10 MB if their texts have CONTROL_LINE_MAX bytes. */
#define EVENTS_MAX 10000

struct events {
	struct ls_profile_event *items;
	uint32_t count, room;
	uint64_t left_out; /* no room, or out of memory */
};

/*
 * `kind` is not copied and must stay valid; `text` is copied and may be NULL. Events beyond
 * EVENTS_MAX are only counted.
 */
void events__add(struct events *events, uint64_t time_ns, const char *kind, const char *text);

/* Frees the events. */
void events__free(struct events *events);

#endif
