/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a session has sampled, part by part: see parts.h. Whatever the whole has is in one of them
 * and in one only.
 */
#ifndef LS_SESSION_PARTS_H
#define LS_SESSION_PARTS_H

#include "parts.h"
#include "profile.h"
#include "session.h"

struct session_parts;

/*
 * Of a session that was opened with parts, as session__export() would tell it now. 0 or -ENOMEM.
 * Free with session_parts__free(), which takes NULL, before the session goes on or is closed.
 */
int session_parts__new(struct session *session, struct session_parts **parts);
void session_parts__free(struct session_parts *parts);

/*
 * The next of which there is anything, in the end the rest: 1; 0: there is no more; or -ENOMEM, of
 * this part: more may follow. Both are valid until the next call, the part as parts.h says.
 */
int session_parts__next(struct session_parts *parts, struct part **part,
			struct ls_profile *profile);

/* More were needed than there may be (PARTS_MAX): those beyond are in the rest. */
int session_parts__are_too_many(const struct session_parts *parts);

#endif
