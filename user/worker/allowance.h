/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Budgets of CPU time for reading each process and all processes of each user, and a ban for those
 * whose memory or files made a worker hang or die. Honest processes stay far below the budgets.
 */
#ifndef LS_ALLOWANCE_H
#define LS_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct allowances;

/*
 * NULL when out of memory. Free with allowances__free(), which takes NULL. allowances__free() logs,
 * at level debug, the CPU time that each process took; allowances__forget() does so for its
 * process.
 */
struct allowances *allowances__new(void);
void allowances__free(struct allowances *allowances);

/* Replaces all grants: for a process's memory, for its mapped files, for a user (TIME_BUDGET_*). */
void allowances__set_grant(struct allowances *allowances, uint64_t ns);

/* Replaces the grant for a process's mapped files, and adds as much to a user's. */
void allowances__set_mapped_grant(struct allowances *allowances, uint64_t ns);

/*
 * Whether the process may be read now. 0; -EDQUOT: a budget is used up, which is that of the
 * process for its memory or for its mapped files, or that of its user for both; -EOWNERDEAD: the
 * process or its user is banned; -ENOMEM.
 */
int allowances__check(struct allowances *allowances, pid_t pid, bool is_of_memory);

/* Charges the CPU time that a request took. */
void allowances__spend(struct allowances *allowances, pid_t pid, bool is_of_memory, uint64_t ns);

/*
 * Bans the process, and its user after a few such cases, and logs that. `why` completes a sentence
 * about its memory: "did not answer within a second".
 */
void allowances__ban(struct allowances *allowances, pid_t pid, const char *why);

/*
 * The same for its command line and the files that this names: the rest of the process is still
 * read. __takes_command() tells whether the command line is.
 */
void allowances__ban_command(struct allowances *allowances, pid_t pid, const char *why);
bool allowances__takes_command(struct allowances *allowances, pid_t pid);

/* The same for a file that the process uses; the process itself is not banned. */
void allowances__ban_file(struct allowances *allowances, pid_t pid, const char *why);

/* The process has ended: its id may be reused. */
void allowances__forget(struct allowances *allowances, pid_t pid);

/* Logs, once per process, that luaspy does not search everything that it has mapped. */
void allowances__tell_unread(struct allowances *allowances, pid_t pid);

/* What is left of the process's budget for its mapped files is spent. */
void allowances__use_up_mapped(struct allowances *allowances, pid_t pid);

#endif
