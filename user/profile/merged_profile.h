/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile as writers and reports show it. Functions that look alike in a file (same source,
 * name, line and flags) are one function, and one node calls a function once: formats that keep
 * children in a map by function would lose the time of the second. What carries neither samples nor
 * time is left out, and both kinds of ids are dense.
 */
#ifndef LS_MERGED_PROFILE_H
#define LS_MERGED_PROFILE_H

#include "profile.h"

struct merged_profile;

enum merged_lines {
	MERGED_LINES_FOLDED, /* a function is one, wherever it stands, with a histogram of lines */
	MERGED_LINES_SPLIT,  /* a function is another at each line that it stands at */
};

/*
 * 0, -ENOMEM, or -EINVAL where `from` breaks its own rules: a node that does not come after its
 * parent, a function or a node that does not exist, a root that is no category's or that two share.
 * *merged is then NULL.
 *
 * Strings of functions and of the recorder, and samples in time, are borrowed from `from`; its
 * nodes and categories are not, so the tree that they came from may be freed.
 */
int merged_profile__new(const struct ls_profile *from, enum merged_lines lines,
			struct merged_profile **merged);
void merged_profile__free(struct merged_profile *merged);

/* Owned by `merged`. What totals, summary and writers take. */
const struct ls_profile *merged_profile__profile(const struct merged_profile *merged);

#endif
