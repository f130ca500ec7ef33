/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile read from the text of a ScriptProfiler file, version 2 or 1, written by luaspy, with
 * all the fields that write_scriptprofiler.h lists, or by another program. The text is not trusted:
 * each id and each sum is checked.
 *
 * The file has whole microseconds, so writing the profile again gives the same file. Files of other
 * programs do not say how many samples a node has: all are 0 then.
 */
#ifndef LS_READ_PROFILE_H
#define LS_READ_PROFILE_H

#include <stddef.h>

#include "profile/profile.h"

struct read_profile;

#define READ_PROFILE_REASON_SIZE 256

/*
 * text[size] must be NUL; the text is borrowed and changed: the profile's names point into it. 0;
 * -ENOMEM; -EINVAL: it is no such file, and `reason` says where and why. *made is NULL then.
 */
int read_profile__new(char *text, size_t size, struct read_profile **made,
		      char reason[READ_PROFILE_REASON_SIZE]);
void read_profile__free(struct read_profile *read);

/* Valid until `read` is freed. A parent's id is lower than its children's. */
const struct ls_profile *read_profile__profile(const struct read_profile *read);

#endif
