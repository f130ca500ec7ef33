/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups processes that are shown as one. */
#ifndef LS_GROUPING_H
#define LS_GROUPING_H

#include <sys/types.h>

enum grouping_kind {
	GROUPING_NONE,   /* each process is shown alone */
	GROUPING_NAME,   /* by name (comm) */
	GROUPING_CGROUP, /* by cgroup, as returned by process__cgroup() */
	GROUPING_USER,   /* by real user */
};

/* Returns the kind with that name, or -EINVAL. */
int grouping__parse(const char *word);

struct grouping;

/* `kind` is not GROUPING_NONE. NULL when out of memory. __free() takes NULL. */
struct grouping *grouping__new(enum grouping_kind kind);
void grouping__free(struct grouping *grouping);

/*
 * Maximum bytes of a group's name; grouping__shorten() replaces the middle of a longer path by
 * "...".
 */
#define GROUPING_NAME_MAX 512
void grouping__shorten(char *path);

/*
 * Gets the group of a process: `name`, its cgroup's path, or its real user's name, or number if it
 * has no name. *group is malloc()ed, NULL on error. 0; -ESRCH: the process is gone; other -errno.
 */
int grouping__of(struct grouping *grouping, pid_t pid, const char *name, char **group);

/* The group of processes that were gone before their own could be read. */
const char *grouping__unknown(const struct grouping *grouping);

#endif
