/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the interpreters that a process runs, decides on their layouts, and reports both. */
#ifndef LS_DETECTION_H
#define LS_DETECTION_H

#include <stdbool.h>
#include <sys/types.h>

#include "interpreter/detection_text.h"
#include "interpreter/inspection.h"
#include "interpreter/layout_vote.h"
#include "target.h"

struct detection;

struct detection_options {
	pid_t pid;
	struct inspector *inspector; /* borrowed */
	const char *layout;          /* forced; NULL: samples decide */
	bool waits;                  /* a process without Lua yet is no error */
	bool is_child;               /* of the requested process: it may have no Lua, or be gone */
	struct announced *announced; /* borrowed; NULL: log everything */
	bool is_for_dump;            /* messages say "dump", not "profile" */
};

/* NULL when out of memory. Free with detection__free(), which takes NULL. */
struct detection *detection__new(const struct detection_options *options);
void detection__free(struct detection *detection);

/*
 * Inspects the files of the process, which messages call `target`, and logs what it found or why it
 * gives up. Returns 0; -ENOENT: nothing to profile; -EAGAIN: the files cannot be inspected now, and
 * detection__notice() will do it later; other -errno.
 */
int detection__run(struct detection *detection, const char *target);

/* Adds the interpreters to `votes`, which must be empty. */
void detection__begin(struct detection *detection, struct layout_votes *votes);

/*
 * Looks for libraries that were loaded since, and adds their interpreters to `votes`. It is cheap:
 * call it with every drain. False: it is too soon to look again, the inspector was busy, or the
 * process has mapped something else since the inspector looked.
 */
bool detection__notice(struct detection *detection, struct layout_votes *votes, const char *target);

/*
 * Logs what has been decided. Returns 0; -ENOENT: an unknown Lua, which it logged; do not call it
 * again.
 */
int detection__settle(struct detection *detection, struct layout_votes *votes, const char *target);

/*
 * Derives the layout of an interpreter that fits none, even if only one sample says so; settle()
 * does once several do. True: there is a new candidate.
 */
bool detection__calibrate(struct detection *detection, struct layout_votes *votes,
			  const char *target);

/* No more samples will come: what is undecided stays so. Returns as detection__settle(). */
int detection__end(struct detection *detection, const struct layout_votes *votes,
		   const char *target);

/* Whether an inspection of its files was put off and is still to be done. */
bool detection__is_due(const struct detection *detection);

/* How often the set of interpreters has changed. */
uint32_t detection__changes(const struct detection *detection);

/* The layouts that BPF should try at this point, by family. */
void detection__candidates(const struct layout_votes *votes,
			   struct ls_candidates candidates[LS_FAMILY_COUNT]);

/* Fills in what BPF should know of the program at this point. */
void detection__target(const struct detection *detection, const struct layout_votes *votes,
		       struct ls_image *target);

/* Whether both have the same interpreters, as parent and child do after a fork. */
bool detection__is_like(const struct detection *one, const struct detection *other);

/* "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped", joined by "; "; NULL: none. */
const char *detection__found(const struct detection *detection);

/* The name of its interpreter if that is recognised but not supported, and the only one; or NULL.
 */
const char *detection__unsupported(const struct detection *detection);

/* How the known garbage collectors were found; NULL: none is known. */
const char *detection__gc(const struct detection *detection);

/* Why the other garbage collectors are not known; NULL: there are no others. */
const char *detection__gc_unknown(const struct detection *detection);

#endif
