/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How several recordings were recorded, as if they were one. */
#ifndef LS_JOINED_RECORDER_H
#define LS_JOINED_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

/*
 * Sums of times and counts; texts that are the same in all; the session as joined_profile.h says.
 * The events are left out. Texts are borrowed. 0 or -ENOMEM.
 */
int joined_recorder__make(const struct ls_profile *const *from, size_t count, bool is_ordered,
			  struct ls_profile_recorder *recorder);

/* How much later than `start_ms` a recording began, in nanoseconds; 0 if it does not say. */
uint64_t joined_recorder__later_ns(const struct ls_profile_recorder *recorder, uint64_t start_ms);

#endif
