/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes a session profiles: options shared by commands that can profile several. */
#ifndef LS_TARGET_CHOICE_H
#define LS_TARGET_CHOICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "targets/targets_options.h"

/* What getopt_long() returns for these options, besides 'p': no command's own options use these. */
enum {
	TARGET_CHOICE_CHILDREN = 's',
	TARGET_CHOICE_SYSTEM = 0x1000,
	TARGET_CHOICE_NAME,
	TARGET_CHOICE_USER,
	TARGET_CHOICE_CGROUP,
	TARGET_CHOICE_MERGE_BY,
	TARGET_CHOICE_NO_COMMAND_LINES,
};

/*
 * Entries for a command's table of struct usage_option. TARGET_CHOICE_NAMING holds --name alone,
 * for commands of one process, TARGET_CHOICE_MERGING --merge-by alone.
 */
#define TARGET_CHOICE_OPTIONS                                                                      \
	{'p', "--pid", USAGE_PID}, {TARGET_CHOICE_CHILDREN, "--children", NULL},                   \
		{TARGET_CHOICE_CHILDREN, "--subprocesses", NULL},                                  \
		{TARGET_CHOICE_SYSTEM, "--system", NULL},                                          \
		{TARGET_CHOICE_NAME, "--name",                                                     \
		 "an extended regular expression, such as '^(lua|redis)'"},                        \
		{TARGET_CHOICE_USER, "--user", "the name of a user, or a number"},                 \
		{TARGET_CHOICE_CGROUP, "--cgroup",                                                 \
		 "a path such as '/system.slice/nginx.service'"},                                  \
	{                                                                                          \
		TARGET_CHOICE_NO_COMMAND_LINES, "--no-command-lines", NULL                         \
	}
#define TARGET_CHOICE_NAMING                                                                       \
	{                                                                                          \
		TARGET_CHOICE_NAME, "--name",                                                      \
			"an extended regular expression, such as '^(lua|redis)'"                   \
	}
#define TARGET_CHOICE_MERGING                                                                      \
	{                                                                                          \
		TARGET_CHOICE_MERGE_BY, "--merge-by", "name, cgroup or user"                       \
	}

/*
 * Applies one of these options with its value. 0; -E2BIG: more processes than PIDS_MAX; -EINVAL,
 * -ERANGE or another error in the value; -ENOTSUP: not one of these options.
 */
int target_choice__set(struct target_choice *choice, int letter, const char *value);

/* The same for a command of one process: -p, the word of usage__next_or_pid(), --name. */
int target_choice__set_one(pid_t *pid, struct process_criteria *criteria, int letter,
			   const char *value);

/* 0, or -EINVAL after reporting that there are both. */
int target_choice__check_one(pid_t pid, const struct process_criteria *criteria);

/* Reports in one line that `value` lists too many processes. */
void target_choice__explain_too_many(const char *value);

/* Whether the process is to be found by `criteria`: exactly one has to fit. */
bool target_choice__is_by_name(const struct target_choice *choice);

/* Whether there is anything to profile, besides a command. */
bool target_choice__is_made(const struct target_choice *choice);

/* Whether luaspy itself is among the targets, which is then reported. */
bool target_choice__refuse_self(const struct target_choice *choice);

/*
 * Checks that the options make sense together. 0, or -EINVAL after reporting which do not.
 * `has_command`: a command was given as well.
 */
int target_choice__check(const struct target_choice *choice, bool has_command);

#endif
