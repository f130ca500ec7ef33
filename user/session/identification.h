/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which interpreters a process runs, and by which layouts they are read: found, decided, told. */
#ifndef LS_IDENTIFICATION_H
#define LS_IDENTIFICATION_H

#include <stdbool.h>
#include <sys/types.h>

#include "lua_files.h"
#include "target.h"
#include "text_list.h"
#include "verdict.h"

struct identification;

struct identification_options {
	pid_t pid;
	struct lua_files *files; /* borrowed */
	const char *layout;      /* forced; NULL: what samples decide on */
	int waits;               /* that there is no Lua yet is no error */
	int is_child; /* of the process that was asked for: it may well have none, and be gone */
	struct announced *announced; /* borrowed; NULL: say all */
	int is_for_dump;             /* and not for a profile, as messages have it */
};

/* What was said of other processes and is not said again. Zeroed: nothing. */
struct announced {
	struct text_list interpreters;
	uint16_t layouts; /* bit per layout that was decided */
};

/* NULL when out of memory. Free with identification__free(), which takes NULL. */
struct identification *identification__new(const struct identification_options *options);
void identification__free(struct identification *identification);

/*
 * Looks at the files of the process, which is called `target`, and says what it found or why it
 * gives up. 0; -ENOENT: nothing there to profile; other -errno.
 */
int identification__look(struct identification *identification, const char *target);

/* Tells `verdicts`, which are empty, of the interpreters. */
void identification__begin(struct identification *identification, struct verdicts *verdicts);

/*
 * Looks for libraries that were loaded since; cheap, to be called with every drain. Tells
 * `verdicts` of them. False: it is too soon to look again.
 */
bool identification__notice(struct identification *identification, struct verdicts *verdicts,
			    const char *target);

/* Says what has been decided. 0; -ENOENT: an unknown Lua, it said so and is not to be asked again.
 */
int identification__settle(struct identification *identification, struct verdicts *verdicts,
			   const char *target);

/* No more samples come: what is not decided by now stays so. The same. */
int identification__end(struct identification *identification, const struct verdicts *verdicts,
			const char *target);

/* How often its interpreters have become others. */
uint32_t identification__changes(const struct identification *identification);

/* What BPF is to try by now. */
void identification__target(const struct identification *identification,
			    const struct verdicts *verdicts, struct ls_target *target);

/* Whether both hold the same interpreters, as the child of a fork does. */
bool identification__is_like(const struct identification *one, const struct identification *other);

/* "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped", one after the other; NULL: none. */
const char *identification__found(const struct identification *identification);

/* How the garbage collectors that are known were found; NULL: none is. */
const char *identification__collector(const struct identification *identification);

/* Why the others are not known; NULL: there are no others. */
const char *identification__collector_unknown(const struct identification *identification);

#endif
