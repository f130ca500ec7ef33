/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session that is told what to do while it runs, and what its profile says of that. */
#ifndef TEST_TELLING_H
#define TEST_TELLING_H

#include "spying.h"

#define PATIENCE 20

/* Writes a line into the FIFO "fifo", each time as a writer that comes and goes. */
void tell(struct stage *stage, const char *line);

/* How often `what` is in `text`. */
int count(const char *text, const char *what);

/* Of the recorder; their number is that of a JSON array. */
const json_t *events(const struct scriptprofile *profile);

/* What an event has as "Kind" or "Text"; "" where it has none. */
const char *event_text(const struct scriptprofile *profile, size_t at, const char *key);
double event_seconds(const struct scriptprofile *profile, size_t at);

#endif
