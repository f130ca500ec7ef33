/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of a session has a profile of its own: each process, or each group of processes. All that is
 * counted of a session is counted of the part that it belongs to as well; what is no part's is the
 * rest, so that parts and rest are the whole.
 */
#ifndef LS_PARTS_H
#define LS_PARTS_H

#include <stdint.h>
#include <sys/types.h>

#include "findings.h"
#include "hash_table.h"
#include "profile.h"

/* More are the rest's. */
#define PARTS_MAX 10000

struct part_counts {
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected, unknown_lines, unsampled_ns;
	uint64_t unnamed_calls; /* of programs that have ended */
	uint64_t unnamed_now;   /* of those that run; as of the last export */
};

struct part {
	uint32_t id; /* ls_profile_category.owner; 0: the rest */
	pid_t pid;   /* 0: a group's, or the rest */
	char *name;  /* of the process or group; "": the rest */
	char *title; /* "lua5.4 (pid 42)" */
	char *file;  /* where it was written; for the caller, freed here. NULL: nowhere yet */
	struct part_counts counts;
	struct kept_findings *findings; /* of processes that have ended; NULL: none has */
	int users;                      /* processes that are part of it */
	int is_held;                    /* has time that is not handed over yet */
	UT_hash_handle hh;              /* by id */
	UT_hash_handle hh_group;        /* by name, where it is a group's */
};

struct parts {
	struct part *items, *groups;
	struct part rest;
	uint32_t last_id;
	int are_too_many;       /* some found no room */
	uint64_t dropped_rest;  /* samples that were the rest's in the profile written last */
	uint64_t dropped_early; /* of these not told of by a later sample yet */
};

/* NULL when out of memory. Free with parts__free(), after the session; takes NULL. */
struct parts *parts__new(void);
void parts__free(struct parts *parts);

/*
 * One for the process, or that of the group, with one user more. 0 with *part NULL where there are
 * too many; or -ENOMEM.
 */
int parts__add_process(struct parts *parts, pid_t pid, struct part **part);
int parts__of_group(struct parts *parts, const char *group, struct part **part);

/* A user less. It stays until parts__restart(). Takes NULL. */
void parts__release(struct part *part);

/* What it is called from now on. 0 or -ENOMEM. */
int part__rename(struct part *part, const char *name, const char *title);

/* The findings of those that have ended: these now. Out of memory: as before. */
void part__keep_findings(struct part *part, const struct findings *findings);

/*
 * A sample tells of `count` before it that were dropped: they are its part's, except those that
 * were the rest's already, of a profile that has been written since.
 */
void parts__count_dropped(struct parts *parts, struct part *part, uint32_t count);

/*
 * Another profile begins, whose categories are those so far: all counts are 0, and parts without a
 * user and without such a category are gone.
 */
void parts__restart(struct parts *parts, const struct ls_profile *begun);

#endif
