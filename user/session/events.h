/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happened while a session ran, in order of time: pauses, marks and the like. */
#ifndef LS_EVENTS_H
#define LS_EVENTS_H

#include "profile.h"

/* Bounds what a session keeps of marks: with texts of CONTROL_LINE_MAX, 10 MB. */
#define EVENTS_MAX 10000

struct events {
	struct ls_profile_event *items;
	uint32_t count, room;
	uint64_t left_out; /* for want of room */
};

/* `kind` is a word that lives on, `text` is copied and may be NULL. Beyond the bound it is counted.
 */
void events__add(struct events *events, uint64_t time_ns, const char *kind, const char *text);

/* Frees what is in it. */
void events__free(struct events *events);

#endif
