/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile read from the text of a ScriptProfiler file, version 2 or 1, be it luaspy's own, with
 * all the fields that write_scriptprofiler.h lists, or another program's. The text is not trusted:
 * each id and each sum is checked.
 *
 * Times are whole microseconds there, so writing it again gives the same file. A file does not say
 * how many samples a node has if another program wrote it: all are 0 then.
 */
#ifndef LS_READ_PROFILE_H
#define LS_READ_PROFILE_H

#include <stddef.h>

#include "profile/profile.h"

struct read_profile;

#define READ_PROFILE_REASON_SIZE 256

/*
 * text[size] must be NUL; the text is borrowed and changed: the profile's names are in it. 0;
 * -ENOMEM; -EINVAL: it is no such file, and `reason` says where and why. *made is NULL then.
 */
int read_profile__new(char *text, size_t size, struct read_profile **made,
		      char reason[READ_PROFILE_REASON_SIZE]);
void read_profile__free(struct read_profile *read);

/* Valid until `read` is freed. A parent's id is lower than its children's. */
const struct ls_profile *read_profile__profile(const struct read_profile *read);

#endif
