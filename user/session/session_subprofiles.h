/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session's profile, split into subprofiles (see subprofiles.h). Everything in the whole profile
 * is in exactly one subprofile.
 */
#ifndef LS_SESSION_SUBPROFILES_H
#define LS_SESSION_SUBPROFILES_H

#include <stdbool.h>

#include "profile/profile.h"
#include "recording/subprofiles.h"
#include "session/session_profile.h"

struct session_subprofiles;

/*
 * Splits what session__export() returns now, for a session that was opened with subprofiles. 0 or
 * -ENOMEM. Free with session_subprofiles__free(), which takes NULL, before the session goes on or
 * is closed.
 */
int session_subprofiles__new(struct session *session, struct session_subprofiles **subprofiles);
void session_subprofiles__free(struct session_subprofiles *subprofiles);

/*
 * Gets the next subprofile that is not empty, and the rest last. 1; 0: there are no more; -ENOMEM:
 * this subprofile failed, but more may follow. *profile is valid until the next call, *subprofile
 * as long as subprofiles.h says.
 */
int session_subprofiles__next(struct session_subprofiles *subprofiles,
			      struct subprofile **subprofile, struct ls_profile *profile);

/* Whether there were more than SUBPROFILES_MAX: those beyond are in the rest. */
bool session_subprofiles__are_too_many(const struct session_subprofiles *subprofiles);

#endif
