/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples in order of time, for charts that show one after the other. The first ones are kept, as
 * many as there is room for, so that charts have no gaps; later ones are only counted.
 */
#ifndef LS_TIMELINE_H
#define LS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* 64 MiB: with one busy thread, more than an hour at 1 kHz, and seven minutes at 10 kHz. */
#define TIMELINE_MOST (4U << 20)

struct timeline;

/* Keeps up to `most` samples. NULL when out of memory. timeline__free() takes NULL. */
struct timeline *timeline__new(size_t most);
void timeline__free(struct timeline *timeline);

/* Adds a sample, in any order: the processors' clocks may differ a little. 0 or -ENOMEM. */
int timeline__add(struct timeline *timeline, uint64_t time_ns, uint32_t thread, uint32_t node);

/* Replaces the node `i` of each sample so far by nodes[i]. */
void timeline__renumber(struct timeline *timeline, const uint32_t *nodes);

/* Points the profile's samples at the timeline's own, sorted: valid until it changes. */
void timeline__export(struct timeline *timeline, struct ls_profile *profile);

#endif
