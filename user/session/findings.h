/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was found out about the interpreters of one or more processes, in words for the file. */
#ifndef LS_FINDINGS_H
#define LS_FINDINGS_H

#include "identification.h"
#include "profile.h"
#include "text_list.h"
#include "verdict.h"

struct findings_counts {
	int with_lua, with_evidence, without_evidence; /* processes */
	int decided[LS_LAYOUT_MAX];                    /* likewise, by layout */
	int provisional[LS_LAYOUT_MAX];
};

/* Zeroed: nothing. */
struct findings {
	struct findings_counts counts;
	struct text_list interpreters;
	struct text_list collectors;         /* how those that are known were found */
	struct text_list unknown_collectors; /* why the others were not */
	char layout[1024];                   /* the verdict, where one process was looked at */
};

/* One process more. */
void findings__add(struct findings *findings, const struct identification *identification,
		   const struct verdicts *verdicts);

/* The same in little room, for those of thousands that have ended. */
struct kept_findings;

/* malloc()ed; NULL when out of memory. */
struct kept_findings *findings__keep(const struct findings *findings);

/* What was kept; NULL: nothing. */
void findings__recall(const struct kept_findings *kept, struct findings *findings);

/* Fills in what the recorder says of them; the texts are the findings'. */
void findings__export(struct findings *findings, struct ls_profile_recorder *recorder);

#endif
