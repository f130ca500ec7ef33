/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Users and groups for the static luaspy, which knows those of /etc/passwd and /etc/group.
 *
 * glibc's own functions ask the services that /etc/nsswitch.conf names, and load each from a shared
 * library that must come from the very glibc that was linked: elsewhere they fail, or crash. These
 * replace them, so the rest of luaspy calls getpwnam() and needs no second version. The luaspy that
 * is linked dynamically does not have this file, and finds users of LDAP or systemd as well.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: no such user. The result is valid until the next call. */
static struct passwd *find_user(const char *name, uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *entry;

	if (!file)
		return NULL;
	do
		entry = fgetpwent(file);
	while (entry && (name ? strcmp(entry->pw_name, name) != 0 : entry->pw_uid != uid));
	fclose(file);
	return entry;
}

struct passwd *getpwnam(const char *name)
{
	return find_user(name, 0);
}

struct passwd *getpwuid(uid_t uid)
{
	return find_user(NULL, uid);
}

static bool has_member(const struct group *group, const char *user)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, user))
			return true;
	return false;
}

/* Adds a group if there is room, and counts it in any case. */
static void add_group(gid_t group, gid_t *groups, int room, int *count)
{
	if (*count < room)
		groups[*count] = group;
	++*count;
}

int getgrouplist(const char *user, gid_t main_group, gid_t *groups, int *count)
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *entry;
	int room = *count;

	*count = 0;
	add_group(main_group, groups, room, count);
	while (file && (entry = fgetgrent(file)))
		if (entry->gr_gid != main_group && has_member(entry, user))
			add_group(entry->gr_gid, groups, room, count);
	if (file)
		fclose(file);
	return *count > room ? -1 : *count;
}

int initgroups(const char *user, gid_t main_group)
{
	int count = 0, failed = -1;
	gid_t *groups;

	getgrouplist(user, main_group, NULL, &count);
	groups = malloc((size_t)count * sizeof(*groups));
	if (groups && getgrouplist(user, main_group, groups, &count) >= 0)
		failed = setgroups((size_t)count, groups);
	free(groups);
	return failed;
}
