/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a target is called, and which category or profile its time belongs to. */
#ifndef LS_TARGET_CATEGORY_H
#define LS_TARGET_CATEGORY_H

#include "targets/target_process_state.h"

/* The name (comm) is that from now on. */
void target_category__set_name(struct target_process *target, const char *name);

/* Makes the title from label, name and pid, once one of them has changed. */
void target_category__set_title(struct target_process *target);

/* Reads the label of its command line, unless it was read since the last execution. */
void target_category__read_label(struct target_process *target);

/* Reads its group. 0 or -ENOMEM. */
int target_category__read_group(struct target_process *target);

/* Its category in a profile by process. Valid until the target changes. */
const char *target_category__name(const struct target_process *target);

/*
 * Moves its time to that category and, if there are subprofiles, to its own: as target->is_filed
 * says; or under its own name if it has Lua or may have, else with those without. 0 or -ENOMEM.
 */
int target_category__file(struct target_process *target);
int target_category__file_by_name(struct target_process *target);

/* Follows changes of its label and its group. 0 or -ENOMEM. */
int target_category__follow(struct target_process *target);

#endif
