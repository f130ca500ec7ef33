/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile as writers and reports show it. Functions that look alike in a file (same source,
 * name, line and flags) are merged, and a node has at most one child per function: formats that
 * keep children in a map by function would lose the time of a second one. Nodes and functions
 * without samples or time are left out, and both kinds of ids are dense.
 */
#ifndef LS_MERGED_PROFILE_H
#define LS_MERGED_PROFILE_H

#include "profile/profile.h"

struct merged_profile;

enum merged_lines {
	MERGED_LINES_FOLDED, /* one entry per function, with a histogram of its lines */
	MERGED_LINES_SPLIT,  /* one entry per function and line being executed */
};

/*
 * 0, -ENOMEM, or -EINVAL if `from` is inconsistent: a node does not come after its parent, a
 * function or node does not exist, or a root belongs to no category or to two. *merged is then
 * NULL.
 *
 * Strings of functions and of the recorder, and the timeline's samples, are borrowed from `from`;
 * its nodes and categories are not, so the tree that they came from may be freed.
 */
int merged_profile__new(const struct ls_profile *from, enum merged_lines lines,
			struct merged_profile **merged);
void merged_profile__free(struct merged_profile *merged);

/* The input of totals, summary and writers. Owned by `merged`. */
const struct ls_profile *merged_profile__profile(const struct merged_profile *merged);

#endif
