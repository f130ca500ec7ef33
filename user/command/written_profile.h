/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that `luaspy top` writes on demand. */
#ifndef LS_WRITTEN_PROFILE_H
#define LS_WRITTEN_PROFILE_H

#include "profile/view.h"
#include "session/session_profile.h"

/*
 * Writes the profile so far as `view` shows it to a file named after the target, in the current
 * folder. Logs the file's name. 0, or -errno after reporting it.
 */
int written_profile__write(struct session *session, const struct view_options *view);

#endif
