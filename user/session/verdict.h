/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verdict on a process's layout. Files only name candidates; a sample is evidence for a layout
 * if the whole stack makes sense under it, and it is decided when enough agree and none disagrees.
 */
#ifndef LS_VERDICT_H
#define LS_VERDICT_H

#include <stdint.h>

#include "layout.h"
#include "record.h"

#define VERDICT_NEEDED 8 /* snapshots of one layout, none of another */

struct verdict {
	uint64_t fits[LS_LAYOUT_MAX]; /* samples that are evidence, per layout */
	uint64_t misfits;             /* samples with script that fitted none */
	uint32_t layout;              /* the one with evidence, where there is any */
	int has_evidence;
	int is_decided;
	int is_contradicted; /* evidence for more than one */
};

/* Takes a sample into account. */
void verdict__add(struct verdict *verdict, const struct ls_sample *sample);

/* "5.4.3-5.4.9, agreed on by 8 of 8 samples" and the like. Ends *to with NUL. */
void verdict__describe(const struct verdict *verdict, char *to, size_t size);

#endif
