/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen of `luaspy top`, line by line, as text: whoever paints it needs no more than its
 * style. What was lost and what luaspy costs are on every screen of three lines or more, and where
 * that is limited, how it stands with the limit on those of four.
 */
#ifndef LS_PICTURE_H
#define LS_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "listing.h"
#include "tally.h"

enum picture_state { PICTURE_LIVE, PICTURE_PAUSED, PICTURE_ENDED };

enum picture_style {
	PICTURE_PLAIN,
	PICTURE_TITLE,
	PICTURE_HEAD, /* of the table */
	PICTURE_GONE, /* a process that has ended, or a function of it */
	PICTURE_FOUND,
	PICTURE_CURSOR,
	PICTURE_KEYS,
};

/* What luaspy costs, of the targets' CPU time: see ls_profile_overhead. */
struct picture_limit {
	uint32_t ppm; /* 0: there is none, and nothing else is known */
	uint64_t period_ns, asked_period_ns;
	uint64_t recent_ns; /* what it cost in the time of tally__recent() */
	uint64_t all_ns;    /* since it began to sample */
	uint64_t all_cpu_ns;
};

/* Strings are borrowed, may be NULL, and need not have been escaped. */
struct picture {
	unsigned width, height;
	bool is_utf8;
	enum picture_state state;
	const struct tally *tally;
	const struct listing *listing;
	const char *target;               /* a process, or what they are together */
	bool is_merged;                   /* several processes may be one row */
	const char *interpreter, *layout; /* of one process */
	bool collector_is_known;
	uint64_t own_cpu_ns; /* of luaspy, in the time of tally__recent() */
	uint64_t bpf_ns;     /* of the BPF programs likewise; 0: not known */
	struct picture_limit limit;
	uint64_t warnings;     /* and errors, so far */
	const char *message;   /* the last, until a key is pressed; "": none */
	const char *why_empty; /* while there are no rows */
};

/* How many rows of the table its screen has. */
uint32_t picture__rows(const struct picture *picture);

/*
 * Every line from the top, `height` of them at most, each valid in the locale's encoding, no wider
 * than `width` and without control characters.
 */
void picture__draw(const struct picture *picture,
		   void (*paint)(void *context, enum picture_style style, const char *text),
		   void *context);

#endif
