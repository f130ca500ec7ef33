/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples in order of time, for charts that show one after the other. The first ones are kept, as
 * many as there is room for, so that what is shown is a stretch without holes; the rest is counted.
 */
#ifndef LS_TIMELINE_H
#define LS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/* 64 MiB: with one busy thread, more than an hour at 1 kHz, and seven minutes at 10 kHz. */
#define TIMELINE_MOST (4U << 20)

struct timeline;

/* Keeps up to `most` samples. NULL when out of memory. Free with timeline__free(), takes NULL. */
struct timeline *timeline__new(size_t most);
void timeline__free(struct timeline *timeline);

/* Of processors whose clocks differ little, in any order. 0 or -ENOMEM. */
int timeline__add(struct timeline *timeline, uint64_t time_ns, uint32_t thread, uint32_t node);

/* What was handed over as node `i` is nodes[i] from now on. */
void timeline__renumber(struct timeline *timeline, const uint32_t *nodes);

/* Points the profile's samples at the timeline's own, in order: valid until it changes. */
void timeline__export(struct timeline *timeline, struct ls_profile *profile);

#endif
