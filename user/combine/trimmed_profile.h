/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What ran in a part of a recording's time, by its order of samples. */
#ifndef LS_TRIMMED_PROFILE_H
#define LS_TRIMMED_PROFILE_H

#include "profile/profile.h"

struct trimmed_profile;

/*
 * Keeps the samples from `from_ns` on and before `to_ns`, both since the start of the recording. 0;
 * -ENOMEM; -EINVAL: the profile has no order of samples; *trimmed is then NULL. Names are borrowed.
 *
 * A recording says how much time each node has, and when its samples were taken, so each of them
 * counts as an equal part of its node's time: the parts of a recording add up to the whole. Of time
 * that no sample covers, it is not known when it was: trimmed_profile__left_out_ns(). Nor is it of
 * the lines of functions, and of all that the recorder counted but samples, so these are left out.
 */
int trimmed_profile__new(const struct ls_profile *from, uint64_t from_ns, uint64_t to_ns,
			 struct trimmed_profile **trimmed);
void trimmed_profile__free(struct trimmed_profile *trimmed);

/* Owned by `trimmed`. */
const struct ls_profile *trimmed_profile__profile(const struct trimmed_profile *trimmed);

/* Time of nodes that have no sample in the whole recording. */
uint64_t trimmed_profile__left_out_ns(const struct trimmed_profile *trimmed);

/*
 * The time of a mark of that text at or after `from_ns`, or of any mark if `text` is NULL. False:
 * there is none.
 */
bool trimmed_profile__find_mark(const struct ls_profile *profile, const char *text,
				uint64_t from_ns, uint64_t *time_ns);

#endif
