/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Of several processes: which are shown as one. */
#ifndef LS_GROUPING_H
#define LS_GROUPING_H

#include <sys/types.h>

enum grouping_kind {
	GROUPING_NONE,   /* each is shown alone */
	GROUPING_NAME,   /* of one name (comm) */
	GROUPING_CGROUP, /* of one cgroup, as process__cgroup() has it */
	GROUPING_USER,   /* of one real user */
};

/* The kind that is called so, or -EINVAL. */
int grouping__parse(const char *word);

struct grouping;

/* Of a kind that is not GROUPING_NONE. NULL when out of memory. __free() takes NULL. */
struct grouping *grouping__new(enum grouping_kind kind);
void grouping__free(struct grouping *grouping);

/* Bytes of a group's name at most; a longer path has "..." in its middle then. */
#define GROUPING_NAME_MAX 512
void grouping__shorten(char *path);

/*
 * What the process of that name is shown as: the name, the path of its cgroup, its user's name or,
 * where there is none, number. *group is malloc()ed, NULL on error. 0; -ESRCH: it is gone;
 * other -errno.
 */
int grouping__of(struct grouping *grouping, pid_t pid, const char *name, char **group);

/* What those are shown as of which that cannot be known: they were gone too soon. */
const char *grouping__unknown(const struct grouping *grouping);

#endif
