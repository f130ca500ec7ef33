/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/name_votes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/call_site.h"

struct name_vote {
	struct name_vote *next;
	uint64_t count;
	char name[];
};

/*
 * How many names are kept: a program may use any number. A new name replaces the least popular one
 * and takes over its votes, so a name with more than 1/VOTES_MAX of all votes is always among those
 * kept (Metwally et al., the space-saving algorithm).
 */
#define VOTES_MAX 8

void name_votes__free(struct name_votes *votes)
{
	while (votes->first) {
		struct name_vote *next = votes->first->next;

		free(votes->first);
		votes->first = next;
	}
}

static struct name_vote *new_vote(const char *name, uint64_t count)
{
	size_t size = strlen(name) + 1;
	struct name_vote *vote = calloc(1, sizeof(*vote) + size);

	if (!vote)
		return NULL;
	vote->count = count;
	memcpy(vote->name, name, size);
	return vote;
}

/* Names stay in the order in which they came, except that a new one may replace the rarest. */
int name_votes__add(struct name_votes *votes, const char *name, uint64_t count)
{
	struct name_vote **link = &votes->first, **least = link;
	struct name_vote *vote;
	int there = 0;

	for (; *link; link = &(*link)->next, there++) {
		if (!strcmp((*link)->name, name)) {
			(*link)->count += count;
			return 0;
		}
		if ((*link)->count < (*least)->count)
			least = link;
	}
	if (there < VOTES_MAX)
		least = link;
	else if (!count)
		return 0;
	vote = new_vote(name, *least ? (*least)->count + count : count);
	if (!vote)
		return -ENOMEM;
	if (*least) {
		vote->next = (*least)->next;
		free(*least);
	}
	*least = vote;
	return 0;
}

const char *name_votes__elected(const struct name_votes *votes)
{
	const struct name_vote *best = votes->first;

	for (const struct name_vote *vote = best; vote; vote = vote->next)
		if (vote->count > best->count)
			best = vote;
	return best ? best->name : NULL;
}

static bool is_of_iterator(const char *name)
{
	return !strncmp(name, CALL_SITE_ITERATOR_OF, strlen(CALL_SITE_ITERATOR_OF)) ||
	       !strcmp(name, CALL_SITE_ANY_ITERATOR);
}

/* What two names of a function have in common; NULL: nothing. */
static const char *common(const char *name, const char *other)
{
	if (!strcmp(name, other))
		return name;
	return is_of_iterator(name) && is_of_iterator(other) ? CALL_SITE_ANY_ITERATOR : NULL;
}

static bool has_voters(const struct name_votes *votes)
{
	const struct name_vote *vote = votes->first;

	while (vote && !vote->count)
		vote = vote->next;
	return vote;
}

const char *name_votes__agreed(const struct name_votes *votes)
{
	const char *name = NULL;
	bool is_voted = has_voters(votes), is_iterator = false;

	for (const struct name_vote *vote = votes->first; vote; vote = vote->next) {
		if (is_voted != (vote->count > 0))
			continue;
		if (!strcmp(vote->name, CALL_SITE_ANY_ITERATOR)) {
			is_iterator = true;
			continue;
		}
		name = name ? common(name, vote->name) : vote->name;
		if (!name)
			return NULL;
	}
	if (is_iterator && name && !is_of_iterator(name))
		return NULL;
	return is_iterator && !name ? CALL_SITE_ANY_ITERATOR : name;
}
