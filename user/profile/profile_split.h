/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile of several owners, each of whom has categories of its own, as one profile for each:
 * every node, sample and line of it is in one of these and in one only.
 */
#ifndef LS_PROFILE_SPLIT_H
#define LS_PROFILE_SPLIT_H

#include "profile.h"

struct profile_split;

/*
 * 0 or -ENOMEM; *split is then NULL. `from` is a profile as recorded, borrowed. Takes the time of
 * one pass over it, and so do all of its parts together.
 */
int profile_split__new(const struct ls_profile *from, struct profile_split **split);
void profile_split__free(struct profile_split *split);

/*
 * What is the owner's: functions that it calls, nodes, categories and samples in time; none, where
 * it has no category. The recorder is `from`'s: what is the owner's of that the caller knows. 0 or
 * -ENOMEM. Valid until the next call; names are borrowed from `from`.
 */
int profile_split__of(struct profile_split *split, uint32_t owner, struct ls_profile *profile);

#endif
