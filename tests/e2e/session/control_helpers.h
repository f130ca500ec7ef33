/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session that a test controls while it runs, and the events in its profile. */
#ifndef TEST_CONTROL_HELPERS_H
#define TEST_CONTROL_HELPERS_H

#include "spying.h"

#define PATIENCE 20

/* Writes a line into the FIFO "fifo", each time as a new writer. */
void tell(struct stage *stage, const char *line);

/* The number of times that `what` is in `text`. */
int count(const char *text, const char *what);

/* The recorder's events, a JSON array. */
const json_t *events(const struct scriptprofile *profile);

/* The "Kind" or "Text" of an event; "" if it has none. */
const char *event_text(const struct scriptprofile *profile, size_t at, const char *key);
double event_seconds(const struct scriptprofile *profile, size_t at);

#endif
