/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/process_filter.h"

#include <errno.h>
#include <pwd.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/process.h"

struct process_filter {
	regex_t name;
	bool has_name, has_user;
	uid_t user;
	char *cgroup; /* without '/' at its end; NULL: any */
};

char *process_criteria__describe(const struct process_criteria *criteria, char *to, size_t size)
{
	const char *const names[] = {"--name", "--user", "--cgroup"};
	const char *const values[] = {criteria->name, criteria->user, criteria->cgroup};
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < 3 && used < size; i++)
		if (values[i])
			used += (size_t)snprintf(to + used, size - used, "%s'%s %s'",
						 used ? " and " : "", names[i], values[i]);
	return to;
}

void process_filter__free(struct process_filter *filter)
{
	if (!filter)
		return;
	if (filter->has_name)
		regfree(&filter->name);
	free(filter->cgroup);
	free(filter);
}

static int set_name(struct process_filter *filter, const char *expression)
{
	int error = regcomp(&filter->name, expression, REG_EXTENDED | REG_NOSUB);

	filter->has_name = !error;
	if (error)
		return error == REG_ESPACE ? -ENOMEM : -EINVAL;
	return 0;
}

static int set_user(struct process_filter *filter, const char *user)
{
	const struct passwd *entry = getpwnam(user);
	char *end;
	unsigned long number = strtoul(user, &end, 10);

	if (!entry && (!*user || *end || *user == '-' || number >= UINT32_MAX))
		return -EINVAL;
	filter->user = entry ? entry->pw_uid : (uid_t)number;
	filter->has_user = true;
	return 0;
}

static int set_cgroup(struct process_filter *filter, const char *path)
{
	size_t length = strlen(path);

	if (*path != '/')
		return -EINVAL;
	while (length && path[length - 1] == '/')
		length--;
	filter->cgroup = strndup(path, length);
	return filter->cgroup ? 0 : -ENOMEM;
}

int process_filter__new(const struct process_criteria *criteria, struct process_filter **made)
{
	struct process_filter *filter = calloc(1, sizeof(*filter));
	int error = filter ? 0 : -ENOMEM;

	*made = filter;
	if (!error && criteria->name)
		error = set_name(filter, criteria->name);
	if (!error && criteria->user)
		error = set_user(filter, criteria->user);
	if (!error && criteria->cgroup)
		error = set_cgroup(filter, criteria->cgroup);
	if (!error)
		return 0;
	process_filter__free(filter);
	*made = NULL;
	return error;
}

static bool is_in_cgroup(pid_t pid, const char *path)
{
	size_t length = strlen(path);
	char *cgroup;
	bool is_in;

	if (process__cgroup(pid, &cgroup))
		return false;
	is_in = !strncmp(cgroup, path, length) && (!cgroup[length] || cgroup[length] == '/');
	free(cgroup);
	return is_in;
}

bool process_filter__takes(const struct process_filter *filter, pid_t pid, const char *name)
{
	uid_t user;

	if (filter->has_name && regexec(&filter->name, name, 0, NULL, 0))
		return false;
	if (filter->has_user && (process__user(pid, &user) || user != filter->user))
		return false;
	return !filter->cgroup || is_in_cgroup(pid, filter->cgroup);
}
