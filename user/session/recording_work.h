/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What recording.c, recording_export.c and recording_restart.c share; nobody else's. */
#ifndef LS_RECORDING_WORK_H
#define LS_RECORDING_WORK_H

#include "call_tree.h"
#include "cpu_time.h"
#include "functions.h"
#include "hash_table.h"
#include "last_stacks.h"
#include "recording.h"
#include "symbolizer_puc.h"
#include "timeline.h"

/* What is kept of one process. */
struct subject {
	pid_t pid;
	struct recording *recording;
	struct categories *categories;
	struct symbolizer_puc *symbolizer;
	struct cpu_time *time;
	struct verdicts verdicts;
	uint64_t last_states[LS_LAYOUT_MAX]; /* by layout; 0: none */
	uint64_t unaccounted_ns;             /* beyond its threads: is in unsampled_ns */
	struct part *part;                   /* NULL: of the rest */
	UT_hash_handle hh;
};

struct recording {
	enum category_kind kind;
	int has_many; /* processes: what is theirs is told apart by their names */
	struct subject *subjects;
	struct parts *parts; /* NULL: there is but one profile */
	struct call_tree *tree;
	struct functions *functions;
	struct elf_files *files;
	struct timeline *timeline; /* NULL: not kept */
	struct last_stacks stacks;
	uint32_t host, unreadable, unsampled, collector; /* functions */
	uint32_t coroutine;      /* likewise; 0: where they begin is not kept */
	uint32_t other;          /* likewise: stands for those that were evicted */
	uint32_t functions_most; /* more are too many */
	uint64_t evicted;
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected;
	uint64_t unknown_lines;
	uint64_t unsampled_ns;
	uint64_t unnamed_calls; /* of programs that have ended */
	uint64_t ended_ns;      /* CPU time of processes that were ended */
	uint64_t strangers;     /* records of processes that are not known */
	int is_paused;
	uint64_t resumed_ns; /* CLOCK_MONOTONIC, as records have it */
	int error;           /* that a callback could not return */
};

#endif
