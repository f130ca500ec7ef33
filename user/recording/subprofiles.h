/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subprofiles of a session that have profiles of their own: each process, or each group of
 * processes. Whatever is counted for the session is also counted for its subprofile; what belongs
 * to no subprofile is the rest, so that subprofiles and rest make up the whole.
 */
#ifndef LS_SUBPROFILES_H
#define LS_SUBPROFILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash_table.h"
#include "interpreter/findings.h"
#include "profile/profile.h"

/* Further ones belong to the rest. */
#define SUBPROFILES_MAX 10000

struct subprofile_counts {
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected, unknown_lines, unkept_lines, unsampled_ns;
	uint64_t unnamed_calls; /* of programs that have ended */
	uint64_t unnamed_now;   /* of running programs, as of the last export */
};

struct subprofile {
	uint32_t id; /* ls_profile_category.owner; 0: the rest */
	pid_t pid;   /* 0: a group's, or the rest */
	char *name;  /* of the process or group; "": the rest */
	char *title; /* "lua5.4 app.lua (pid 42)" */
	char *file;  /* where it was written; for the caller, freed here; NULL: nowhere yet */
	struct subprofile_counts counts;
	struct kept_findings *findings; /* of processes that have ended; NULL: none has */
	int users;                      /* processes that are part of it */
	bool is_held;                   /* some of its time is not handed over yet */
	UT_hash_handle hh;              /* by id */
	UT_hash_handle hh_group;        /* by name, where it is a group's */
};

struct subprofiles {
	struct subprofile *items, *groups;
	struct subprofile rest;
	uint32_t last_id;
	bool are_too_many;      /* there were more than SUBPROFILES_MAX */
	uint64_t dropped_rest;  /* dropped samples in the rest of the profile written last */
	uint64_t dropped_early; /* of these, not yet reported by a later sample */
};

/* NULL when out of memory. Free with subprofiles__free(), after the session; takes NULL. */
struct subprofiles *subprofiles__new(void);
void subprofiles__free(struct subprofiles *subprofiles);

/*
 * Adds a subprofile for the process, or gets the group's; it has one more user then. 0, with
 * *subprofile NULL if there are too many; or -ENOMEM.
 */
int subprofiles__add_process(struct subprofiles *subprofiles, pid_t pid,
			     struct subprofile **subprofile);
int subprofiles__of_group(struct subprofiles *subprofiles, const char *group,
			  struct subprofile **subprofile);

/* Removes a user. The subprofile stays until subprofiles__restart(). Takes NULL. */
void subprofiles__release(struct subprofile *subprofile);

/* Changes its name and title. 0 or -ENOMEM. */
int subprofile__rename(struct subprofile *subprofile, const char *name, const char *title);

/* Replaces the findings of ended processes; leaves them unchanged if out of memory. */
void subprofile__keep_findings(struct subprofile *subprofile, const struct findings *findings);

/*
 * A sample reports `count` dropped ones before it: counts them for its subprofile, except those
 * that were already in the rest of a profile written in between.
 */
void subprofiles__count_dropped(struct subprofiles *subprofiles, struct subprofile *subprofile,
				uint32_t count);

/*
 * Begins another profile, whose categories so far are in `begun`: zeroes all counts, and removes
 * subprofiles that have neither a user nor such a category.
 */
void subprofiles__restart(struct subprofiles *subprofiles, const struct ls_profile *begun);

#endif
