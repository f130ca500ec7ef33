/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What targets.c and its parts share; nobody else's. */
#ifndef LS_TARGETS_WORK_H
#define LS_TARGETS_WORK_H

#include "findings.h"
#include "mappings.h"
#include "target_process.h"
#include "targets.h"

struct targets {
	struct targets_options options;
	struct target_setting setting;
	struct target_process *items;
	struct target_process *roused; /* those of them that there may be anything to take in of */
	struct announced announced;
	struct findings findings;      /* of children that have ended */
	struct findings shown;         /* of all, for the recorder */
	int poll_fd;                   /* of pidfds of those that were asked for, and of mappings */
	struct mappings *mappings;     /* NULL: only these */
	struct process_filter *filter; /* of processes that nobody named */
	int has_to_search;             /* some mappings were lost */
	size_t asked_for;              /* that are still there */
	uint64_t missed;               /* processes that could not be looked into, or be sampled */
	size_t denied;                 /* of the first, at the last search */
	pid_t denied_pid;              /* one of them */
	pid_t last_denied;             /* since */
	int is_paused;
	uint64_t start_ns; /* CLOCK_MONOTONIC, of the timers */
	pid_t first;
	pid_t named; /* last of those whose tables were read for names */
	char name[16];
	char title[128];
};

/* NULL: it is none. */
struct target_process *targets__find(const struct targets *targets, pid_t pid);

/* Takes it over. 0 or -ENOMEM. */
int targets__add(struct targets *targets, struct target_process *target);

/* It is none any more. */
void targets__drop(struct targets *targets, struct target_process *target);

/* There is something to take in of it; or there is nothing any more. */
void targets__rouse(struct targets *targets, struct target_process *target);
void targets__lull(struct targets *targets, struct target_process *target);

/* Of all, after what they are called, or how many were asked for, has changed. */
void targets__set_title(struct targets *targets);

/* What was found out about it, to those of others. */
void targets__add_findings(const struct targets *targets, const struct target_process *target,
			   struct findings *findings);

/*
 * Those that the processes which were asked for have by now, with timers. 0 or -errno; what is
 * wrong with one of them was said.
 */
int targets__add_children(struct targets *targets);

/* The same for all processes of the host that hold Lua, from here on. */
int targets__watch_host(struct targets *targets);

/* Those that have come to do so since. 0 or -errno. */
int targets__add_new(struct targets *targets);

#endif
