/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the files and the memory of targets through a worker (worker.h), so that no target can
 * block, crash or exhaust luaspy, and within budgets of CPU time (allowance.h). What can be asked
 * is in interpreter/inspection.h.
 *
 * Every request returns 0 or -errno, which is the error of the reading itself or one of these:
 * -EAGAIN: something more urgent was due; -EDQUOT: a budget is used up; -EBUSY: somebody holds a
 *   lease on the file; for all three, try again later (inspector__is_later());
 * -EACCES, -EPERM: luaspy lacks a privilege;
 * -EOWNERDEAD: the process or its user is banned; a warning named it;
 * -EFBIG: the target's data is larger than luaspy reads; -ENOMEM.
 */
#ifndef LS_INSPECTOR_H
#define LS_INSPECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "worker/worker.h"

struct inspector;

/*
 * Makes an inspector whose worker does this job; call this before luaspy opens anything. 0 or
 * -errno.
 */
int inspector__start(const struct worker_job *job, struct inspector **inspector);

/* Makes one that reads in this process, which targets can block. NULL when out of memory. */
struct inspector *inspector__new_local(const struct worker_job *job);

/* Takes NULL. */
void inspector__free(struct inspector *inspector);

/*
 * As worker__set_waiter() and worker__set_deadline(). Once the deadline or the waiter has cut off a
 * request, all others fail with -EAGAIN until the next deadline is set.
 */
void inspector__set_waiter(struct inspector *inspector, const struct worker_waiter *waiter);
void inspector__set_deadline(struct inspector *inspector, uint64_t until_ns);

/* Raises all budgets to five seconds, for a command that reads one process and ends. */
void inspector__grant_more(struct inspector *inspector);

/* Raises only the budget for mapped files, for a session of processes that the user named. */
void inspector__grant_search(struct inspector *inspector);

/* CPU time that its workers have used, in nanoseconds. */
uint64_t inspector__cpu_ns(const struct inspector *inspector);

/* Whether a call that failed with this error may succeed later. */
bool inspector__is_later(int error);

/* What a request reads; each source has budgets of its own. */
enum inspector_source {
	INSPECTOR_FILES,
	INSPECTOR_MEMORY,
	INSPECTOR_SCRIPTS,  /* source text, on the budgets of memory */
	INSPECTOR_COMMANDS, /* command lines, likewise */
};

/* From now on, requests of this source fail with -ENOTSUP. */
void inspector__leave(struct inspector *inspector, enum inspector_source source);

/* Begins a request of the job's kind `kind`; the caller appends its arguments. */
struct message *inspector__request(struct inspector *inspector, enum inspector_source source,
				   uint64_t kind, pid_t pid);

/* Sends it. 0 with *answer, valid until the next request; else -errno as above. */
int inspector__ask(struct inspector *inspector, struct message **answer);

/* Logs, once per process, that luaspy does not search everything that it has mapped. */
void inspector__tell_unread(struct inspector *inspector, pid_t pid);

/* Spends what is left of the process's budget for its mapped files: see TIME_BUDGET_MAPPED_NS. */
void inspector__use_up_mapped(struct inspector *inspector, pid_t pid);

/* The process has ended: its id may be reused. */
void inspector__forget_allowance(struct inspector *inspector, pid_t pid);

#endif
