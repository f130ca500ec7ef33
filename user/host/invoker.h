/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user for whom luaspy works: whoever called sudo, where it runs under sudo. Files belong to
 * them, and commands that luaspy starts run as they would have run them.
 */
#ifndef LS_INVOKER_H
#define LS_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/* False where luaspy was not started through sudo: it works for the user whose it is itself. */
bool invoker__find(struct invoker *invoker);

/*
 * The environment in which sudo was called, as an array for execve(): sudo passes on little of it,
 * but its own process still has it. Where that cannot be had, luaspy's own, with HOME, USER,
 * LOGNAME and SHELL of that user and without sudo's. Free with invoker__free_environment(). NULL
 * when out of memory.
 */
char **invoker__environment(const struct invoker *invoker);
void invoker__free_environment(char **environment);

/*
 * Turns the calling process, for good, into one of that user: groups, group, user. 0 or -errno.
 * For a child that is about to execute a command.
 */
int invoker__become(const struct invoker *invoker);

#endif
