/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `luaspy top` leaves on the terminal when its screen is gone. */
#ifndef LS_TOP_SUMMARY_H
#define LS_TOP_SUMMARY_H

#include "session/session.h"
#include "top/kept_warnings.h"

/* Repeats the warnings, and says what was sampled, and how much of it is missing. */
void top_summary__log(struct session *session, const struct kept_warnings *kept);

#endif
