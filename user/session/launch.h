/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that luaspy starts, as the invoking user. It is held before it is executed, until the
 * timers run; standard input, output, errors and the terminal are luaspy's.
 */
#ifndef LS_LAUNCH_H
#define LS_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch;

/*
 * Forks a process that waits. `words` as for execvp(); they are borrowed. Call it before signals
 * are caught: the command starts with those that luaspy got. 0 or -errno; *launch is then NULL.
 */
int launch__new(char *const *words, struct launch **launch);

pid_t launch__pid(const struct launch *launch);

/* Has it execute the command. 0, or -errno after saying why it cannot. */
int launch__release(struct launch *launch);

bool launch__is_released(const struct launch *launch);

/* Passes on a signal that luaspy got. */
void launch__signal(const struct launch *launch, int signal);

/*
 * Waits for its end, passing on SIGTERM and SIGHUP, which are blocked. Its exit status as a shell
 * has it: 128 and the signal that killed it, 127 for a command that does not exist, 126 for one
 * that cannot be executed.
 */
int launch__wait(struct launch *launch);

/* Ends one that was never released. Takes NULL. */
void launch__free(struct launch *launch);

#endif
