/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How several recordings were made, as if they were one: counts and durations add up. */
#ifndef LS_JOINED_RECORDER_H
#define LS_JOINED_RECORDER_H

#include <stddef.h>

#include "profile/profile.h"

struct joined_recorder;

/* Texts are borrowed from the `count` profiles. Of one, it is a copy. 0 or -ENOMEM. */
int joined_recorder__new(const struct ls_profile *const *profiles, size_t count,
			 struct joined_recorder **made);
void joined_recorder__free(struct joined_recorder *joined);

/* What differs is left out: the period is 0 then, a text NULL, the target "N recordings". */
const struct ls_profile_recorder *joined_recorder__recorder(const struct joined_recorder *joined);

#endif
