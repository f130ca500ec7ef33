/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was found out about the interpreters of one or more processes, in words for the file. */
#ifndef LS_FINDINGS_H
#define LS_FINDINGS_H

#include "identification.h"
#include "profile.h"
#include "text_list.h"
#include "verdict.h"

/* Zeroed: nothing. */
struct findings {
	struct text_list interpreters;
	struct text_list collectors;
	char layout[1024]; /* the verdict, where one process was looked at */
	int with_lua, with_evidence, without_evidence; /* processes */
	int unknown_collectors;                        /* likewise */
	int decided[LS_LAYOUT_MAX];                    /* likewise, by layout */
	int provisional[LS_LAYOUT_MAX];
};

/* One process more. */
void findings__add(struct findings *findings, const struct identification *identification,
		   const struct verdicts *verdicts);

/* Fills in what the recorder says of them; the texts are the findings'. */
void findings__export(struct findings *findings, struct ls_profile_recorder *recorder);

#endif
