/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the recordings of a report were made, as if they were one. */
#ifndef LS_REPORT_RECORDER_H
#define LS_REPORT_RECORDER_H

#include <stddef.h>

#include "profile/profile.h"

struct report_recorder;

/* Texts are borrowed from the `count` profiles. Of one, it is a copy. 0 or -ENOMEM. */
int report_recorder__new(const struct ls_profile *const *profiles, size_t count,
			 struct report_recorder **made);
void report_recorder__free(struct report_recorder *recorder);

/*
 * As combine/joined_recorder.h joins them; the target is "N recordings of TARGET", the interpreters
 * are those of all.
 */
const struct ls_profile_recorder *report_recorder__get(const struct report_recorder *recorder);

#endif
