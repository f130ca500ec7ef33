/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/target_choice.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "options/usage.h"

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

/* Separated by commas, or by blanks as pidof prints them. */
static int parse_pids(const char *list, struct target_choice *choice)
{
	static const char separators[] = ", ";
	int error = -EINVAL;

	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		size_t length = strcspn(list, separators);
		uint32_t number;
		char word[64];

		if (length >= sizeof(word))
			return -EINVAL;
		memcpy(word, list, length);
		word[length] = '\0';
		error = usage__parse_number(word, USAGE_PID_LAST, &number);
		if (!error)
			error = add_pid(choice, (pid_t)number);
		if (error)
			return error;
		list += length;
	}
	return error;
}

/* Checks the values, for example that the user exists. 0 or -errno. */
static int check_criteria(const struct process_criteria *criteria)
{
	struct process_filter *filter = NULL;
	int error = process_filter__new(criteria, &filter);

	process_filter__free(filter);
	return error;
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
	case USAGE_WORD:
		return parse_pids(value, choice);
	case TARGET_CHOICE_CHILDREN:
		choice->children = true;
		return 0;
	case TARGET_CHOICE_SYSTEM:
		choice->system = true;
		return 0;
	case TARGET_CHOICE_NAME:
		choice->criteria.name = value;
		return check_criteria(&choice->criteria);
	case TARGET_CHOICE_USER:
		choice->criteria.user = value;
		return check_criteria(&choice->criteria);
	case TARGET_CHOICE_CGROUP:
		choice->criteria.cgroup = value;
		return check_criteria(&choice->criteria);
	case TARGET_CHOICE_NO_COMMAND_LINES:
		choice->no_command_lines = true;
		return 0;
	case TARGET_CHOICE_MERGE_BY:
		return parse_merge_by(value, &choice->merge_by);
	}
	return -ENOTSUP;
}

int target_choice__set_one(pid_t *pid, struct process_criteria *criteria, int letter,
			   const char *value)
{
	uint32_t number;
	int error;

	if (letter == TARGET_CHOICE_NAME) {
		criteria->name = value;
		return check_criteria(criteria);
	}
	if (letter != 'p' && letter != USAGE_WORD)
		return -ENOTSUP;
	error = usage__parse_number(value, USAGE_PID_LAST, &number);
	if (!error)
		*pid = (pid_t)number;
	return error;
}

int target_choice__check_one(pid_t pid, const struct process_criteria *criteria)
{
	if (!pid || !criteria->name)
		return 0;
	log_error("'--pid' excludes '--name' (it chooses among all processes)");
	return -EINVAL;
}

void target_choice__explain_too_many(const char *value)
{
	log_error("too many processes in '%s' (accepted: up to " TEXT(PIDS_MAX) ")", value);
}

static bool has_criteria(const struct target_choice *choice)
{
	return choice->criteria.name || choice->criteria.user || choice->criteria.cgroup;
}

bool target_choice__is_by_name(const struct target_choice *choice)
{
	return choice->criteria.name && !choice->system;
}

bool target_choice__is_made(const struct target_choice *choice)
{
	return choice->pid_count || choice->system || choice->criteria.name;
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

/* --name alone finds one process, among all; --user and --cgroup choose among several. */
static int check_criteria_alone(const struct target_choice *choice, bool has_command)
{
	if (!has_criteria(choice) || choice->system)
		return 0;
	if (choice->pid_count || has_command) {
		log_error("'%s' excludes '--name', '--user' and '--cgroup' (they choose among all "
			  "processes)",
			  choice->pid_count ? "--pid" : "COMMAND");
		return -EINVAL;
	}
	if (choice->criteria.name)
		return 0;
	log_error("'%s' needs '--system', which takes all such processes, or '--name', which "
		  "finds one",
		  choice->criteria.user ? "--user" : "--cgroup");
	return -EINVAL;
}

/* --system excludes other targets. */
static int check_system(const struct target_choice *choice, bool has_command)
{
	if (!choice->system || (!choice->pid_count && !choice->children && !has_command))
		return 0;
	log_error("'--system' excludes '%s' (it records all processes that run an interpreter)",
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
	if (check_criteria_alone(choice, has_command))
		return -EINVAL;
	return check_system(choice, has_command);
}
