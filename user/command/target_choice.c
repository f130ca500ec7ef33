/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "usage.h"

#define QUOTE(token) #token
#define TEXT(macro)  QUOTE(macro)

static int add_pid(struct target_choice *choice, pid_t pid)
{
	for (size_t i = 0; i < choice->pid_count; i++)
		if (choice->pids[i] == pid)
			return 0;
	if (choice->pid_count == PIDS_MAX)
		return -E2BIG;
	choice->pids[choice->pid_count++] = pid;
	return 0;
}

/* With commas, or as pidof prints them. */
static int parse_pids(const char *list, struct target_choice *choice)
{
	char *copy = strdup(list), *rest = copy, *word;
	int err = copy ? -EINVAL : -ENOMEM;

	choice->pid_count = 0;
	while (copy && (word = strtok_r(rest, ", ", &rest))) {
		uint32_t number;

		err = usage__parse_number(word, USAGE_PID_LAST, &number);
		if (!err)
			err = add_pid(choice, (pid_t)number);
		if (err)
			break;
	}
	free(copy);
	return err;
}

/* Whether there is such a user, and so on. */
static int check_wish(const struct process_wish *wish)
{
	struct process_filter *filter = NULL;
	int err = process_filter__new(wish, &filter);

	process_filter__free(filter);
	return err;
}

static int parse_merge_by(const char *value, enum grouping_kind *merge_by)
{
	int kind = grouping__parse(value);

	if (kind < 0)
		return kind;
	*merge_by = (enum grouping_kind)kind;
	return 0;
}

int target_choice__set(struct target_choice *choice, int letter, const char *value)
{
	switch (letter) {
	case 'p':
		return parse_pids(value, choice);
	case TARGET_CHOICE_CHILDREN:
		choice->children = true;
		return 0;
	case TARGET_CHOICE_SYSTEM:
		choice->system = true;
		return 0;
	case TARGET_CHOICE_NAME:
		choice->wish.name = value;
		return check_wish(&choice->wish);
	case TARGET_CHOICE_USER:
		choice->wish.user = value;
		return check_wish(&choice->wish);
	case TARGET_CHOICE_CGROUP:
		choice->wish.cgroup = value;
		return check_wish(&choice->wish);
	case TARGET_CHOICE_MERGE_BY:
		return parse_merge_by(value, &choice->merge_by);
	}
	return -ENOTSUP;
}

void target_choice__explain_too_many(const char *value)
{
	log_error("too many processes in '%s' (accepted: up to " TEXT(PIDS_MAX) ")", value);
}

bool target_choice__is_of_many(const struct target_choice *choice)
{
	return choice->pid_count > 1 || choice->children || choice->system;
}

bool target_choice__refuse_self(const struct target_choice *choice)
{
	for (size_t i = 0; i < choice->pid_count; i++)
		if (choice->pids[i] == getpid()) {
			log_error("cannot profile process %d: that is luaspy itself", getpid());
			return true;
		}
	return false;
}

/* --system, which stands alone; or what it alone makes sense with. */
static int check_system(const struct target_choice *choice, bool has_command)
{
	bool is_wish = choice->wish.name || choice->wish.user || choice->wish.cgroup;

	if (is_wish && !choice->system) {
		log_error("'--name', '--user' and '--cgroup' need '--system': they choose among "
			  "its processes");
		return -EINVAL;
	}
	if (!choice->system || (!choice->pid_count && !choice->children && !has_command))
		return 0;
	log_error("'--system' excludes '%s' (it records all processes that run Lua)",
		  choice->pid_count  ? "--pid"
		  : choice->children ? "--children"
				     : "COMMAND");
	return -EINVAL;
}

int target_choice__check(const struct target_choice *choice, bool has_command)
{
	if (choice->merge_by != GROUPING_NONE && !target_choice__is_of_many(choice)) {
		log_error("'--merge-by' needs several processes ('--system', '--children' or a "
			  "list of '--pid')");
		return -EINVAL;
	}
	return check_system(choice, has_command);
}
