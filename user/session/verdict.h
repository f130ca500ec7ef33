/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verdict on the layouts of a process's interpreters. Files only name candidates; a sample is
 * evidence for a layout if the whole stack makes sense under it, and it is decided when enough
 * agree and none disagrees.
 *
 * A sample does not say which interpreter it is of, but candidates do: one verdict is on the
 * interpreters that share some, mostly one. It can end with as many layouts as they are.
 */
#ifndef LS_VERDICT_H
#define LS_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "record.h"

#define VERDICT_NEEDED 8 /* snapshots of one layout, none of another */
#define VERDICT_MAX    8

struct verdict {
	uint16_t candidates;          /* bit per layout; 0: all */
	uint16_t named;               /* the candidates that files speak for */
	uint16_t decided;             /* bit per layout */
	uint32_t interpreters;        /* that share the candidates; 0: one */
	uint64_t fits[LS_LAYOUT_MAX]; /* samples that are evidence, per layout */
	uint64_t misfits;             /* samples with script that fitted none */
	uint64_t hosts;               /* samples without any, before there was evidence */
	uint32_t layout;              /* the last with evidence, where there is any */
	int has_evidence;
	int is_decided;      /* no more layouts are to be found */
	int is_contradicted; /* evidence for more layouts than there are interpreters */
	int is_forced;       /* by the user: nothing is decided, but misfits are counted */
};

struct verdicts {
	struct verdict items[VERDICT_MAX];
	size_t count;
};

/* Takes a sample into account. */
void verdict__add(struct verdict *verdict, const struct ls_sample *sample);
void verdicts__add(struct verdicts *verdicts, const struct ls_sample *sample);

/*
 * An interpreter with these candidates: a verdict of its own, or one with those that share some.
 * What was decided stays.
 */
void verdicts__expect(struct verdicts *verdicts, uint16_t candidates);

/* "5.4.3-5.4.9, agreed on by 8 of 8 samples, none fits another" and the like. Ends *to with NUL. */
void verdict__describe(const struct verdict *verdict, char *to, size_t size);
void verdicts__describe(const struct verdicts *verdicts, char *to, size_t size);

/* Whether each interpreter's layout is, of at least one. */
int verdicts__are_decided(const struct verdicts *verdicts);

/* The layouts that are decided, and those to be walked with, these and candidates: bit each. */
uint16_t verdicts__decided(const struct verdicts *verdicts);
uint16_t verdicts__to_try(const struct verdicts *verdicts);

/* "5.1-5.1.5 fits 0 of 64, ...": all candidates. Ends *to with NUL. */
void verdict__score(const struct verdict *verdict, char *to, size_t size);

#endif
