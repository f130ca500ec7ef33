/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that luaspy starts as the invoking user. It is held before its execution until the
 * timers run; it shares luaspy's standard input, output, error and terminal.
 */
#ifndef LS_LAUNCH_H
#define LS_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch;

/*
 * Forks a process that waits for launch__release(). `words` are as for execvp(), and borrowed. Call
 * this before signals are caught: the command starts with the signal settings that luaspy got. 0 or
 * -errno; *launch is then NULL.
 */
int launch__new(char *const *words, struct launch **launch);

/*
 * The same for a command that must not disturb the terminal: it has a session of its own, and those
 * of its standard files that are terminals are /dev/null. The terminal's signals are luaspy's
 * alone.
 */
int launch__new_apart(char *const *words, struct launch **launch);
bool launch__is_apart(const struct launch *launch);

/*
 * Ends a command that is apart, with all processes of its session that did not leave its group:
 * SIGTERM, and SIGKILL after some seconds. Call launch__wait() then.
 */
void launch__end(const struct launch *launch);

pid_t launch__pid(const struct launch *launch);

/* Makes it execute the command. 0, or -errno after logging why it cannot. */
int launch__release(struct launch *launch);

bool launch__is_released(const struct launch *launch);

/* Passes on a signal that luaspy got. */
void launch__signal(const struct launch *launch, int signal);

/*
 * Waits for the command's end, passing on SIGTERM and SIGHUP, which must be blocked. Returns its
 * exit status as a shell does: 128 plus the signal that killed it, 127 for a command that does not
 * exist, 126 for one that cannot be executed.
 */
int launch__wait(struct launch *launch);

/* Frees it, and ends a command that was never released. Takes NULL. */
void launch__free(struct launch *launch);

#endif
