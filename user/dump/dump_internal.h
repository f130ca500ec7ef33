/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What taking a dump works with; for this folder alone. */
#ifndef LS_DUMP_INTERNAL_H
#define LS_DUMP_INTERNAL_H

#include "dump/stack_reader.h"
#include "interpreter/detection.h"
#include "interpreter/family.h"
#include "interpreter/layout_vote.h"
#include "sampler/sampler.h"
#include "target.h"

struct dump_internal {
	struct inspector *inspector;
	struct detection *detection;
	struct layout_votes votes;
	struct walker *walkers[LS_FAMILY_COUNT];
	struct stack_reader *reader;
	struct sampler *sampler; /* NULL: no thread has run so far, or BPF is unavailable */
	bool sampler_failed;
	bool has_executed; /* the process runs another program now */
	bool tries_all;    /* try all layouts, as none that the files suggest fits */
};

/* Sets *target to the layouts to try on a stack now; those with proof count as decided. */
void dump_internal__target(const struct dump_internal *internal, struct ls_image *target);

/* Takes NULL. */
void dump_internal__free(struct dump_internal *internal);

#endif
