/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session's profile, split into parts (see parts.h). Everything in the whole profile is in
 * exactly one part.
 */
#ifndef LS_SESSION_PARTS_H
#define LS_SESSION_PARTS_H

#include <stdbool.h>

#include "profile/profile.h"
#include "recording/parts.h"
#include "session/session_profile.h"

struct session_parts;

/*
 * Splits what session__export() returns now, for a session that was opened with parts. 0 or
 * -ENOMEM. Free with session_parts__free(), which takes NULL, before the session goes on or is
 * closed.
 */
int session_parts__new(struct session *session, struct session_parts **parts);
void session_parts__free(struct session_parts *parts);

/*
 * Gets the next part that is not empty, and the rest last. 1; 0: there are no more; -ENOMEM: this
 * part failed, but more may follow. *profile is valid until the next call, *part as long as parts.h
 * says.
 */
int session_parts__next(struct session_parts *parts, struct part **part,
			struct ls_profile *profile);

/* Whether there were more than PARTS_MAX: those beyond are in the rest. */
bool session_parts__are_too_many(const struct session_parts *parts);

#endif
