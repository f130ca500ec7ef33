/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that were taken out of the ring buffer before anybody had time for them, in order. */
#ifndef LS_BACKLOG_H
#define LS_BACKLOG_H

#include <stddef.h>

#include "record.h"

/* What is more stays in the ring buffer. 10 kHz at depth 10 takes 13 s to fill it, at 100 1.3 s. */
#define BACKLOG_BYTES_MAX (32 * 1024 * 1024)

/* The longest record there may be. */
#define BACKLOG_RECORD_MAX (sizeof(struct ls_sample) + LS_DEPTH_MAX * sizeof(struct ls_frame))

struct backlog_chunk;

/* All zero is an empty one. */
struct backlog {
	struct backlog_chunk *first, *last;
	size_t bytes;
};

/* Whether there is room for one more, made now where need be: 0; -ENOSPC; -ENOMEM. */
int backlog__make_room(struct backlog *backlog);

/* Copies a record; to be called only when room was made for it, which is taken then. */
void backlog__add(struct backlog *backlog, const void *record, size_t size);

/*
 * Hands out and forgets all of them. 0, or what `receive` returned that was negative: that record
 * and those before it are forgotten, the others stay.
 */
int backlog__hand_out(struct backlog *backlog,
		      int (*receive)(void *context, void *record, size_t size), void *context);

/* Forgets what is in it. */
void backlog__free(struct backlog *backlog);

#endif
