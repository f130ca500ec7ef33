/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes a session is of, as commands that may be of several are told it. */
#ifndef LS_TARGET_CHOICE_H
#define LS_TARGET_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "grouping.h"
#include "process_filter.h"

#define PIDS_MAX 1024

/* Strings are borrowed from the command line. */
struct target_choice {
	pid_t pids[PIDS_MAX]; /* none is there twice */
	size_t pid_count;
	bool children;            /* and what they start */
	bool system;              /* all processes that run Lua instead */
	struct process_wish wish; /* which of those */
	enum grouping_kind merge_by;
};

/* What getopt_long() returns for its options, beyond those of any command, and 'p'. */
enum {
	TARGET_CHOICE_CHILDREN = 0x1000,
	TARGET_CHOICE_SYSTEM,
	TARGET_CHOICE_NAME,
	TARGET_CHOICE_USER,
	TARGET_CHOICE_CGROUP,
	TARGET_CHOICE_MERGE_BY,
};

/* For a table of struct usage_option, those before and after what is of the command alone. */
#define TARGET_CHOICE_OPTIONS                                                                      \
	{'p', "--pid", USAGE_PID}, {TARGET_CHOICE_CHILDREN, "--children", NULL},                   \
		{TARGET_CHOICE_SYSTEM, "--system", NULL},                                          \
		{TARGET_CHOICE_NAME, "--name",                                                     \
		 "an extended regular expression, such as '^(lua|redis)'"},                        \
		{TARGET_CHOICE_USER, "--user", "the name of a user, or a number"},                 \
	{                                                                                          \
		TARGET_CHOICE_CGROUP, "--cgroup", "a path such as '/system.slice/nginx.service'"   \
	}
#define TARGET_CHOICE_MERGING                                                                      \
	{                                                                                          \
		TARGET_CHOICE_MERGE_BY, "--merge-by", "name, cgroup or user"                       \
	}

/*
 * Takes one of these options with its value. 0; -E2BIG: more processes than PIDS_MAX; -EINVAL,
 * -ERANGE or another error of the value; -ENOTSUP: it is none of them.
 */
int target_choice__set(struct target_choice *choice, int letter, const char *value);

/* Says in a line that there are too many in `value`. */
void target_choice__explain_too_many(const char *value);

bool target_choice__is_of_many(const struct target_choice *choice);

/* luaspy itself is among them, which it says. */
bool target_choice__refuse_self(const struct target_choice *choice);

/*
 * Whether they can all be meant: 0, or -EINVAL after saying which cannot. `has_command`: one was
 * given, too.
 */
int target_choice__check(const struct target_choice *choice, bool has_command);

#endif
