/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a dump is made with: between its parts, for nobody else. */
#ifndef LS_DUMP_WORK_H
#define LS_DUMP_WORK_H

#include "dump.h"
#include "identification.h"
#include "sampler.h"
#include "stack_reader.h"
#include "target.h"
#include "verdict.h"
#include "walker_puc.h"

struct dump_work {
	struct lua_files *files;
	struct identification *identification;
	struct verdicts verdicts;
	struct walker_puc *walker;
	struct stack_reader *reader;
	struct sampler *sampler; /* NULL: no thread ran so far, or BPF is not to be had */
	int sampler_failed;
	int has_executed; /* the process runs another program now */
	int tries_all;    /* all layouts, as none that the files speak for fitted */
};

/* Which layouts a stack is to be tried with by now; those with proof count as decided. */
void dump_work__target(const struct dump_work *work, struct ls_target *target);

/*
 * Reads the stacks of all threads: of those that stand still here, of the others by samples. 0,
 * -ENOENT, -ESRCH: the process is gone; other -errno. Says what is wrong.
 */
int dump_threads__read(struct dump *dump);

/* Reads the coroutines that have yielded, of all VMs that can be found. 0 or -ENOMEM. */
int dump_coroutines__read(struct dump *dump);

#endif
