/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names by which its callers call a function, with the number of votes for each. */
#ifndef LS_NAME_VOTES_H
#define LS_NAME_VOTES_H

#include <stdint.h>

struct name_vote;

/* Zeroed: there are none. Free with name_votes__free(). */
struct name_votes {
	struct name_vote *first;
};

void name_votes__free(struct name_votes *votes);

/*
 * Adds `count` votes; with 0, suggests a name to use if nobody votes. Even among hundreds of names,
 * one with more than an eighth of the votes is kept. The name is copied. 0 or -ENOMEM.
 */
int name_votes__add(struct name_votes *votes, const char *name, uint64_t count);

/* The name with the most votes; among equals, the first that came. NULL: there is no name. */
const char *name_votes__elected(const struct name_votes *votes);

/*
 * The name on which all voters agree or, without votes, all suggestions; NULL: none. Voters for
 * CALL_SITE_ANY_ITERATOR agree with a more precise name of an iterator. If the precise names
 * differ, CALL_SITE_ANY_ITERATOR is what they have in common.
 */
const char *name_votes__agreed(const struct name_votes *votes);

#endif
