/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a session that have profiles of their own: each process, or each group of processes.
 * Whatever is counted for the session is also counted for its part; what belongs to no part is the
 * rest, so that parts and rest make up the whole.
 */
#ifndef LS_PARTS_H
#define LS_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash_table.h"
#include "interpreter/findings.h"
#include "profile/profile.h"

/* Further ones belong to the rest. */
#define PARTS_MAX 10000

struct part_counts {
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected, unknown_lines, unsampled_ns;
	uint64_t unnamed_calls; /* of programs that have ended */
	uint64_t unnamed_now;   /* of running programs, as of the last export */
};

struct part {
	uint32_t id; /* ls_profile_category.owner; 0: the rest */
	pid_t pid;   /* 0: a group's, or the rest */
	char *name;  /* of the process or group; "": the rest */
	char *title; /* "lua5.4 app.lua (pid 42)" */
	char *file;  /* where it was written; for the caller, freed here; NULL: nowhere yet */
	struct part_counts counts;
	struct kept_findings *findings; /* of processes that have ended; NULL: none has */
	int users;                      /* processes that are part of it */
	bool is_held;                   /* some of its time is not handed over yet */
	UT_hash_handle hh;              /* by id */
	UT_hash_handle hh_group;        /* by name, where it is a group's */
};

struct parts {
	struct part *items, *groups;
	struct part rest;
	uint32_t last_id;
	bool are_too_many;      /* there were more than PARTS_MAX */
	uint64_t dropped_rest;  /* dropped samples in the rest of the profile written last */
	uint64_t dropped_early; /* of these, not yet reported by a later sample */
};

/* NULL when out of memory. Free with parts__free(), after the session; takes NULL. */
struct parts *parts__new(void);
void parts__free(struct parts *parts);

/*
 * Adds a part for the process, or gets the group's; it has one more user then. 0, with *part NULL
 * if there are too many; or -ENOMEM.
 */
int parts__add_process(struct parts *parts, pid_t pid, struct part **part);
int parts__of_group(struct parts *parts, const char *group, struct part **part);

/* Removes a user. The part stays until parts__restart(). Takes NULL. */
void parts__release(struct part *part);

/* Changes its name and title. 0 or -ENOMEM. */
int part__rename(struct part *part, const char *name, const char *title);

/* Replaces the findings of ended processes; leaves them unchanged if out of memory. */
void part__keep_findings(struct part *part, const struct findings *findings);

/*
 * A sample reports `count` dropped ones before it: counts them for its part, except those that were
 * already in the rest of a profile written in between.
 */
void parts__count_dropped(struct parts *parts, struct part *part, uint32_t count);

/*
 * Begins another profile, whose categories so far are in `begun`: zeroes all counts, and removes
 * parts that have neither a user nor such a category.
 */
void parts__restart(struct parts *parts, const struct ls_profile *begun);

#endif
