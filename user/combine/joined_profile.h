/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One profile of several recordings: the sum of their time and samples. */
#ifndef LS_JOINED_PROFILE_H
#define LS_JOINED_PROFILE_H

#include <stddef.h>

#include "profile/profile.h"

enum joined_categories {
	/* one of each name and recorded process: "lua5.4, lua5.4 app.lua (pid 42)" */
	JOINED_APART,
	JOINED_BY_NAME, /* one of each name */
	JOINED_AS_ONE,  /* a single one, "all" */
};

struct joined_profile;

/*
 * Joins profiles, of which there is at least one and which stay borrowed. 0; -ENOMEM; -ERANGE: they
 * have more time than a file can hold. *joined is then NULL.
 *
 * The session lasts from the first start to the last end; what no recording covers is a pause. If
 * there is no order of samples, it lasts as long as the recordings do, without the gaps. Where one
 * of them does not tell its start, or has time but no order of samples, the whole has no order:
 * joined_profile__lost_order().
 */
int joined_profile__new(const struct ls_profile *const *from, size_t count,
			enum joined_categories categories, struct joined_profile **joined);

/*
 * The same, JOINED_AS_ONE, for a comparison: the first `before_count` profiles, at least one, are
 * from before a change. Functions whose lines moved by it are one, with the line after it
 * (paired_functions.h).
 */
int joined_profile__new_sides(const struct ls_profile *const *from, size_t count,
			      size_t before_count, struct joined_profile **joined);
void joined_profile__free(struct joined_profile *joined);

/* As merged_profile.h makes them. Owned by `joined`. */
const struct ls_profile *joined_profile__profile(const struct joined_profile *joined);

/* Whether some of the recordings had an order of samples, or marks, that the whole has not. */
bool joined_profile__lost_order(const struct joined_profile *joined);

/* The node here of a node of the profile from[index]; its function here. */
uint32_t joined_profile__node(const struct joined_profile *joined, size_t index, uint32_t node);
uint32_t joined_profile__function(const struct joined_profile *joined, size_t index,
				  uint32_t function);

#endif
