/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/user_rights.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/invoker.h"
#include "system/privileges.h"

#define GROUPS_MAX 65536 /* NGROUPS_MAX, linux/limits.h */

/* Direct system call: the C library's wrapper changes all threads. */
static int set_groups(int count, const gid_t *groups)
{
	return syscall(SYS_setgroups, count, groups) ? -errno : 0;
}

/* Stores the groups of this thread, which the caller frees. Returns their number or -errno. */
static int own_groups(gid_t **groups)
{
	int count = getgroups(0, NULL);

	*groups = count < 0 ? NULL : malloc((size_t)(count + 1) * sizeof(**groups));
	if (count < 0)
		return -errno;
	if (!*groups)
		return -ENOMEM;
	return getgroups(count, *groups);
}

/*
 * The groups of the user who called sudo, looked up only once: the answer may come from another
 * host. Returns their number or -errno.
 */
static int groups_of(const struct invoker *invoker, const gid_t **groups)
{
	static gid_t *found;
	static int count;
	const struct passwd *user = found ? NULL : getpwuid(invoker->uid);
	int room = 0;

	if (user)
		getgrouplist(user->pw_name, invoker->gid, NULL, &room);
	if (!found) {
		count = room < 1 || room > GROUPS_MAX ? 1 : room;
		room = count;
		found = malloc((size_t)count * sizeof(*found));
		if (!found)
			return -ENOMEM;
		*found = invoker->gid;
	}
	if (user && getgrouplist(user->pw_name, invoker->gid, found, &count) < 0)
		count = room;
	*groups = found;
	return count;
}

/*
 * The kernel drops and restores the capabilities that override permissions as the file system user
 * id changes: capabilities(7).
 */
static void set_ids(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
}

static int become(const struct invoker *invoker, struct user_rights *rights)
{
	const gid_t *groups;
	int count = groups_of(invoker, &groups), error;

	if (count < 0)
		return count;
	rights->group_count = own_groups(&rights->groups);
	if (rights->group_count < 0)
		return rights->group_count;
	error = set_groups(count, groups);
	if (error)
		goto cleanup;
	rights->gid = (gid_t)setfsgid(invoker->gid);
	setfsuid(invoker->uid);
	rights->uid = invoker->uid;
	rights->is_callers = true;
	/* setfsuid() and setfsgid() do not report failure, so check. */
	if ((uid_t)setfsuid((uid_t)-1) == invoker->uid &&
	    (gid_t)setfsgid((gid_t)-1) == invoker->gid)
		return 0;
	error = -EPERM;
	set_ids(geteuid(), rights->gid);
	set_groups(rights->group_count, rights->groups);
cleanup:
	free(rights->groups);
	return error;
}

int user_rights__take(struct user_rights *rights)
{
	struct invoker invoker;
	int error = 0;

	*rights = (struct user_rights){.uid = geteuid()};
	if (geteuid())
		error = privileges__set_aside_files(&rights->capabilities);
	else if (invoker__find(&invoker) && invoker.uid)
		error = become(&invoker, rights);
	rights->has_taken = !error;
	return error;
}

void user_rights__give_back(struct user_rights *rights)
{
	int saved_errno = errno;

	if (rights->has_taken && rights->is_callers) {
		set_ids(geteuid(), rights->gid);
		set_groups(rights->group_count, rights->groups);
		free(rights->groups);
	} else if (rights->has_taken && geteuid()) {
		privileges__give_back(rights->capabilities);
	}
	rights->has_taken = false;
	errno = saved_errno;
}

int user_rights__try(user_rights_attempt *attempt, void *context)
{
	struct user_rights rights;
	int error = user_rights__take(&rights);
	bool is_denied = error && !geteuid();

	if (!error) {
		error = attempt(context, &rights);
		is_denied = rights.is_callers && (error == -EACCES || error == -EPERM);
		user_rights__give_back(&rights);
	}
	if (!is_denied)
		return error;
	rights = (struct user_rights){.uid = geteuid()};
	return attempt(context, &rights);
}

bool user_rights__trust(uid_t owner)
{
	struct invoker invoker;

	return !owner || owner == geteuid() || (invoker__find(&invoker) && owner == invoker.uid);
}

bool user_rights__own_environment(void)
{
	struct invoker invoker;
	uint64_t capabilities;

	if (getauxval(AT_SECURE) || invoker__find(&invoker))
		return false;
	return !geteuid() || (!privileges__effective(&capabilities) && !capabilities);
}
