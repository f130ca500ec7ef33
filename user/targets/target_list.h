/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes themselves; for targets*.c alone. */
#ifndef LS_TARGET_LIST_H
#define LS_TARGET_LIST_H

#include "targets/targets_state.h"

/* Returns NULL if the process is no target. */
struct target_process *targets__find(const struct targets *targets, pid_t pid);

/* Takes ownership of `target`, also on error. 0 or -ENOMEM. */
int targets__add(struct targets *targets, struct target_process *target);

/* Removes a target, and frees it. */
void targets__drop(struct targets *targets, struct target_process *target);

/* Adds a target to the list of those to follow, or removes it from there. */
void targets__mark_dirty(struct targets *targets, struct target_process *target);
void targets__mark_clean(struct targets *targets, struct target_process *target);

/*
 * Starts timers on its threads, or goes on with that, for as long as this round has time for it. 0
 * or -errno, explained.
 */
int targets__start_timers(struct targets *targets, struct target_process *target);

/* Updates the title of all, after a name or the number of those asked for has changed. */
void targets__set_title(struct targets *targets);

/* Adds what was found out about `target` to `findings`. */
void targets__add_findings(const struct targets *targets, const struct target_process *target,
			   struct findings *findings);

#endif
