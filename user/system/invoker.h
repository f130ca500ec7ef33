/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user for whom luaspy works: under sudo, the user who called it. That user owns the files that
 * luaspy writes, and commands that luaspy starts run as if that user had started them.
 */
#ifndef LS_INVOKER_H
#define LS_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/* False if luaspy was not started through sudo. It then works for the user that it runs as. */
bool invoker__find(struct invoker *invoker);

/*
 * The environment in which sudo was called, as an array for execve(). sudo passes on little of it,
 * but sudo's own process still has it. If that cannot be read: luaspy's own environment, without
 * sudo's variables, and with HOME, USER, LOGNAME and SHELL of that user. Free with
 * invoker__free_environment(). NULL when out of memory.
 */
char **invoker__environment(const struct invoker *invoker);
void invoker__free_environment(char **environment);

/*
 * Permanently switches the calling process to that user: supplementary groups, group ID, user ID. 0
 * or -errno. Call this in a child that is about to execute a command.
 */
int invoker__become(const struct invoker *invoker);

#endif
