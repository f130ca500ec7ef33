/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A queue of records taken out of the ring buffer before luaspy had time to process them. */
#ifndef LS_BACKLOG_H
#define LS_BACKLOG_H

#include <stddef.h>

#include "record.h"

/*
 * Further records stay in the ring buffer. At 10 kHz, samples of depth 10 fill the backlog in 13 s,
 * samples of depth 100 in 1.3 s.
 */
#define BACKLOG_BYTES_MAX (32 * 1024 * 1024)

/* The longest record there may be. */
#define BACKLOG_RECORD_MAX (sizeof(struct ls_sample) + LS_DEPTH_MAX * sizeof(struct ls_frame))

struct backlog_chunk;

/* All zero: empty. */
struct backlog {
	struct backlog_chunk *first, *last;
	size_t bytes;
};

/*
 * Makes room for one more record if there is none. 0; -ENOSPC: BACKLOG_BYTES_MAX is reached;
 * -ENOMEM.
 */
int backlog__make_room(struct backlog *backlog);

/* Copies a record into the room made by backlog__make_room(), which must be called before each. */
void backlog__add(struct backlog *backlog, const void *record, size_t size);

/*
 * Passes all records to `receive` and forgets them, including those added meanwhile. 0, or a
 * negative value that `receive` returned: that record and those before it are forgotten, the others
 * stay.
 */
int backlog__hand_out(struct backlog *backlog,
		      int (*receive)(void *context, void *record, size_t size), void *context);

/* Frees all records. */
void backlog__free(struct backlog *backlog);

#endif
