/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The working state of a dump, private to this folder. */
#ifndef LS_DUMP_INTERNAL_H
#define LS_DUMP_INTERNAL_H

#include "dump/dump.h"
#include "dump/stack_reader.h"
#include "interpreter/detection.h"
#include "interpreter/family.h"
#include "interpreter/layout_vote.h"
#include "sampler/sampler.h"
#include "target.h"

struct dump_work {
	struct inspector *inspector;
	struct detection *detection;
	struct layout_votes votes;
	struct walker *walkers[LS_FAMILY_COUNT];
	struct stack_reader *reader;
	struct sampler *sampler; /* NULL: no thread has run so far, or BPF is unavailable */
	int sampler_failed;
	int has_executed; /* the process runs another program now */
	int tries_all;    /* try all layouts, as none that the files suggest fits */
};

/* Sets *target to the layouts to try on a stack now; those with proof count as decided. */
void dump_work__target(const struct dump_work *work, struct ls_image *target);

/*
 * Reads the stacks of all threads: directly if they stand still, by sampling if not. 0; -ENOENT:
 * the process has ended or has an unknown Lua; other -errno. Reports errors.
 */
int dump_threads__read(struct dump *dump);

/* Reads the suspended coroutines of all VMs that can be found. 0 or -ENOMEM. */
int dump_coroutines__read(struct dump *dump);

#endif
