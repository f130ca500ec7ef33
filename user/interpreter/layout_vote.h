/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The vote on the layouts of a process's interpreters. Files only name candidates; a sample is
 * evidence for a layout if the whole stack makes sense under it, and a layout is decided when
 * enough samples agree and none disagrees.
 *
 * A sample does not say which interpreter it comes from, but candidates do. So interpreters that
 * share candidates share one vote; mostly that is one interpreter. A vote can end with as many
 * layouts as it has interpreters.
 */
#ifndef LS_LAYOUT_VOTE_H
#define LS_LAYOUT_VOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpreter/family.h"
#include "target.h"
#include "record.h"

#define LAYOUT_VOTE_NEEDED  8  /* samples that are evidence for one layout, none for another */
#define LAYOUT_VOTE_MISFITS 64 /* samples that fit none, for the interpreter to be another one */
/* Votes of one family share no candidate. */
#define LAYOUT_VOTE_MAX (LS_LAYOUT_MAX * LS_FAMILY_COUNT)

struct layout_vote {
	const struct family *family;  /* of all layouts here, each a bit by its slot */
	uint16_t candidates;          /* bit per layout; 0: all */
	uint16_t named;               /* the candidates that files name */
	uint16_t decided;             /* bit per layout */
	uint32_t interpreters;        /* that share the candidates; 0: one */
	uint64_t fits[LS_LAYOUT_MAX]; /* samples that are evidence, per layout */
	uint64_t misfits;             /* samples with script that fitted none */
	uint64_t unsure;              /* misfits whose stack may be another state's */
	uint64_t misfit_ns;           /* the sum of their periods */
	uint64_t misfit_state;        /* the lua_State of the last of them; 0: not known */
	uint64_t hosts;               /* samples without script, before there was evidence */
	uint32_t layout;              /* the last one with evidence, if has_evidence */
	bool has_evidence;            /* by any sample: see layout_vote__has_evidence() */
	bool is_decided;              /* no more layouts are expected */
	bool is_contradicted;         /* evidence for more layouts than there are interpreters */
	bool is_forced;               /* by the user: nothing is decided, but misfits are counted */
};

struct layout_votes {
	struct layout_vote items[LAYOUT_VOTE_MAX];
	size_t count;
};

/* Takes a sample into account. */
void layout_vote__add(struct layout_vote *vote, const struct ls_sample *sample);
void layout_votes__add(struct layout_votes *votes, const struct ls_sample *sample);

/*
 * Adds an interpreter of a family with these candidates: as a vote of its own, or merged with the
 * votes that share some of them. What was decided stays decided.
 */
void layout_votes__expect(struct layout_votes *votes, const struct family *family,
			  uint16_t candidates);

/* Makes a layout that was derived meanwhile a candidate of the votes of its family. */
void layout_votes__propose(struct layout_votes *votes, const struct family *family, uint32_t slot);

/*
 * "5.4.3-5.4.9, agreed on by 8 of 8 samples, no sample fits another" and the like. Ends *to with
 * NUL.
 */
void layout_vote__describe(const struct layout_vote *vote, char *to, size_t size);
void layout_votes__describe(const struct layout_votes *votes, char *to, size_t size);

/*
 * Whether some layout fits, rather than now and then: a stack of the main chunk alone may fit an
 * interpreter that has moved what only other functions tell.
 */
bool layout_vote__has_evidence(const struct layout_vote *vote);

/* Whether there are interpreters and the layouts of all are decided. */
bool layout_votes__are_decided(const struct layout_votes *votes);

/* Bits: a family's decided layouts; those to walk with, which are these and candidates. */
uint16_t layout_votes__decided(const struct layout_votes *votes, const struct family *family);
uint16_t layout_votes__to_try(const struct layout_votes *votes, const struct family *family);

/*
 * "none of 10 layouts fits any of 64 samples" or, of what fits now and then, "5.4.0 fits 2 of 64
 * samples, 9 others none". Ends *to with NUL.
 */
void layout_vote__score(const struct layout_vote *vote, char *to, size_t size);

#endif
