/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/grouping.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/process.h"

/* Caches the names of this many users: a lookup may query another host. */
#define USERS_KEPT 64

/*
 * Bytes kept from the start of a long path. Most is kept from its end, which is the process's own.
 */
#define HEAD_LENGTH 128

struct grouping {
	enum grouping_kind kind;
	struct {
		uid_t id;
		char *name; /* NULL: unused entry */
	} users[USERS_KEPT];
};

static const char *const words[] = {
	[GROUPING_NAME] = "name",
	[GROUPING_CGROUP] = "cgroup",
	[GROUPING_USER] = "user",
};

int grouping__parse(const char *word)
{
	for (size_t i = GROUPING_NAME; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return (int)i;
	return -EINVAL;
}

struct grouping *grouping__new(enum grouping_kind kind)
{
	struct grouping *grouping = calloc(1, sizeof(*grouping));

	if (grouping)
		grouping->kind = kind;
	return grouping;
}

void grouping__free(struct grouping *grouping)
{
	if (!grouping)
		return;
	for (size_t i = 0; i < USERS_KEPT; i++)
		free(grouping->users[i].name);
	free(grouping);
}

void grouping__shorten(char *path)
{
	size_t length = strlen(path), tail = GROUPING_NAME_MAX - HEAD_LENGTH - 3;

	if (length <= GROUPING_NAME_MAX)
		return;
	memcpy(path + HEAD_LENGTH, "...", 3);
	memmove(path + HEAD_LENGTH + 3, path + length - tail, tail + 1);
}

static int cgroup_of(pid_t pid, char **group)
{
	int error = process__cgroup(pid, group);

	if (!error)
		grouping__shorten(*group);
	return error;
}

static char *name_user(uid_t user)
{
	const struct passwd *entry = getpwuid(user);
	char *name;

	if (entry && *entry->pw_name)
		return strndup(entry->pw_name, GROUPING_NAME_MAX);
	return asprintf(&name, "%u", user) < 0 ? NULL : name;
}

static int user_of(struct grouping *grouping, pid_t pid, char **group)
{
	uid_t user;
	int error = process__user(pid, &user);
	size_t place = error ? 0 : user % USERS_KEPT;

	if (error)
		return error;
	if (!grouping->users[place].name || grouping->users[place].id != user) {
		free(grouping->users[place].name);
		grouping->users[place].name = name_user(user);
		grouping->users[place].id = user;
	}
	if (grouping->users[place].name)
		*group = strdup(grouping->users[place].name);
	return *group ? 0 : -ENOMEM;
}

int grouping__of(struct grouping *grouping, pid_t pid, const char *name, char **group)
{
	*group = NULL;
	switch (grouping->kind) {
	case GROUPING_NAME:
		*group = strdup(name);
		return *group ? 0 : -ENOMEM;
	case GROUPING_CGROUP:
		return cgroup_of(pid, group);
	case GROUPING_USER:
		return user_of(grouping, pid, group);
	case GROUPING_NONE:
		break;
	}
	return -EINVAL;
}

const char *grouping__unknown(const struct grouping *grouping)
{
	return grouping->kind == GROUPING_CGROUP ? "(unknown cgroup)" : "(unknown user)";
}
