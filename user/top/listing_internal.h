/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What listing.c and listing_keys.c share. */
#ifndef LS_LISTING_INTERNAL_H
#define LS_LISTING_INTERNAL_H

#include "top/listing.h"

/* The spans of averages in seconds, in the order of the key; 0: none. */
#define LISTING_SPANS 5
static const uint32_t listing_spans[LISTING_SPANS] = {0, 1, 60, 300, 600};

static inline bool shows_processes(const struct listing *listing)
{
	return listing->view == LISTING_PROCESSES;
}

struct listing_page *listing__page_of(struct listing *listing);

/* What tells a row from others of the same process or role. */
uint32_t listing__function_at(const struct listing *listing, uint32_t at);

/* Moves the cursor, and the screen if need be. From now on it follows that row, or the top. */
void listing__choose(struct listing *listing, uint32_t cursor);

/* The cursor follows the row that it is on, even if that is the first. */
void listing__pin(struct listing *listing);

#endif
