/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was found out about the interpreters of one or more processes, as text for the profile. */
#ifndef LS_FINDINGS_H
#define LS_FINDINGS_H

#include "base/text_list.h"
#include "interpreter/detection.h"
#include "interpreter/layout_vote.h"
#include "profile/profile.h"

struct findings_counts {
	int with_lua, with_evidence, without_evidence; /* processes */
	int decided[LS_FAMILY_COUNT][LS_LAYOUT_MAX];   /* processes by layout */
	int provisional[LS_FAMILY_COUNT][LS_LAYOUT_MAX];
};

/* Zeroed: nothing. */
struct findings {
	struct findings_counts counts;
	struct text_list interpreters;
	struct text_list gcs;         /* how the known garbage collectors were found */
	struct text_list unknown_gcs; /* why the others were not */
	char layout[1024];            /* the vote of the first process with evidence */
};

/* Adds one process. */
void findings__add(struct findings *findings, const struct detection *detection,
		   const struct layout_votes *votes);

/* Findings in little memory, to keep those of thousands of processes that have ended. */
struct kept_findings;

/* malloc()ed; NULL when out of memory. */
struct kept_findings *findings__keep(const struct findings *findings);

/* Sets *findings to what was kept; NULL: nothing. */
void findings__recall(const struct kept_findings *kept, struct findings *findings);

/* Fills in the recorder's part about interpreters; the texts still belong to the findings. */
void findings__export(struct findings *findings, struct ls_profile_recorder *recorder);

#endif
