/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rights of the user for whom luaspy works. What that user names (output files, FIFOs and their
 * folders) is opened with these rights. The others that luaspy has are for reading processes, and
 * must not show or change anything that the user could not.
 *
 * Under sudo, that is the user who called it. If luaspy has capabilities from its own file or from
 * a service manager, it is the user that luaspy runs as, without the capabilities that override
 * permissions.
 */
#ifndef LS_USER_RIGHTS_H
#define LS_USER_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct user_rights {
	uid_t uid;       /* owner of files that are created now */
	bool is_callers; /* these are the rights of the user who called sudo, not root's */

	/* For user_rights__give_back(). */
	bool has_taken;
	uint64_t capabilities;
	gid_t gid;
	int group_count;
	gid_t *groups;
};

/*
 * Gives the calling thread the user's rights until user_rights__give_back(), which may also be
 * called if this failed. 0, or -errno: nothing has changed.
 */
int user_rights__take(struct user_rights *rights);
void user_rights__give_back(struct user_rights *rights);

/*
 * Calls `attempt` with the user's rights. Under sudo, if that returns -EACCES or -EPERM, calls it
 * once more with root's, who may write where the user may not. Returns what the last call returned.
 */
typedef int user_rights_attempt(void *context, const struct user_rights *rights);
int user_rights__try(user_rights_attempt *attempt, void *context);

/* Whether a file's owner is trusted: root, luaspy's own user, or the user who called sudo. */
bool user_rights__trust(uid_t owner);

/*
 * Whether the environment comes from a user who has luaspy's privileges, too. If not, variables
 * that name files must be ignored.
 */
bool user_rights__own_environment(void);

#endif
