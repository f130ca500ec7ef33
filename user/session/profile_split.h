/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Splits a profile of several owners, each with categories of its own, into one profile per owner:
 * every node, sample and line is in exactly one of them.
 */
#ifndef LS_PROFILE_SPLIT_H
#define LS_PROFILE_SPLIT_H

#include "profile/profile.h"

struct profile_split;

/*
 * 0 or -ENOMEM; *split is then NULL. `from` is a profile as recorded, borrowed. This takes one pass
 * over it, and so does making all of the parts together.
 */
int profile_split__new(const struct ls_profile *from, struct profile_split **split);
void profile_split__free(struct profile_split *split);

/*
 * The owner's profile: its categories, nodes, timeline samples and the functions that its nodes
 * call; empty if it has no category. The recorder is a copy of `from`'s: only the caller knows the
 * owner's part of that. 0 or -ENOMEM. Valid until the next call; names are borrowed from `from`.
 */
int profile_split__of(struct profile_split *split, uint32_t owner, struct ls_profile *profile);

#endif
