/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording keeps; for recording*.c and recorded_process.c alone. */
#ifndef LS_RECORDING_INTERNAL_H
#define LS_RECORDING_INTERNAL_H

#include <stdbool.h>

#include "base/hash_table.h"
#include "naming/symbolizer.h"
#include "profile/call_tree.h"
#include "profile/functions.h"
#include "profile/timeline.h"
#include "recording/cpu_time.h"
#include "recording/last_stacks.h"
#include "recording/recording.h"

/*
 * Limits what a session keeps, whatever the target does: about 150 MiB. When there are more nodes
 * or functions, at least the hottest quarter stays. Functions that BPF will not define again stay,
 * too: there may then be more than the limit, but how many more is also bounded.
 */
#define RECORDING_NODES_MAX     1000000U
#define RECORDING_FUNCTIONS_MAX 100000U

/* What is kept for one process. */
struct recorded_process {
	pid_t pid;
	struct recording *recording;
	struct categories *categories;
	struct symbolizer *symbolizer;
	struct cpu_time *time;
	struct layout_votes votes;
	uint64_t last_states[LS_FAMILY_COUNT][LS_LAYOUT_MAX]; /* by layout; 0: none */
	uint64_t unaccounted_ns; /* CPU time that no thread accounts for; part of unsampled_ns */
	uint64_t ahead_ns;       /* of that, what exiting threads may still report */
	struct subprofile *subprofile; /* NULL: the rest */
	bool is_partial;               /* not all of its threads have begun */
	UT_hash_handle hh;
};

struct recording {
	enum category_kind kind;
	bool has_many; /* processes, told apart by their names */
	struct recorded_process *processes;
	struct subprofiles *subprofiles; /* NULL: there is only one profile */
	struct call_tree *tree;
	struct functions *functions;
	struct inspector *inspector;
	struct timeline *timeline; /* NULL: not kept */
	struct last_stacks stacks;
	uint32_t host, unreadable, unsampled, gc; /* functions */
	uint32_t coroutine;                       /* likewise; 0: their beginnings are not kept */
	uint32_t other;                           /* likewise: stands for those that were evicted */
	uint32_t functions_most;                  /* beyond this number, they are pruned */
	uint64_t evicted;
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected;
	uint64_t unknown_lines, unkept_lines;
	uint64_t unsampled_ns;
	uint64_t unnamed_calls; /* of programs that have ended */
	uint64_t ended_ns;      /* CPU time of processes that were ended */
	uint64_t strangers;     /* records of unknown processes */
	bool is_paused;
	uint64_t resumed_ns; /* CLOCK_MONOTONIC, as records have it */
	int error;           /* that a callback could not return */
};

/* NULL: the recording does not have the process. */
struct recorded_process *recorded_process__find(const struct recording *recording, pid_t pid);

/* The node of the category `name` in the process's subprofile. 0 when out of memory. */
uint32_t recorded_process__category(struct recorded_process *process, const char *name);

/* The receivers of its cpu_time; `context` is the process. */
void recorded_process__charge(void *context, uint32_t node, uint64_t ns);
void recorded_process__charge_unsampled(void *context, const char *comm, uint64_t ns);

/* Takes NULL. */
void recorded_process__free(struct recorded_process *process);

/* Prunes the tree if it may exceed these limits with a stack of `depth` frames. 0 or -ENOMEM. */
int recording__keep_bounds(struct recording *recording, uint32_t depth);

#endif
