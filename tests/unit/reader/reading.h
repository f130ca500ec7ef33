/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes profiles in a format, and reads files as profiles. */
#ifndef TEST_READING_H
#define TEST_READING_H

#include "reader/input_format.h"

/* What is written in a format; the caller frees it. */
char *reading__write(const char *format, const struct ls_profile *profile, size_t *size);

/* Reads a file of any format; `reason` says why it is refused. 0 or a negative errno. */
int reading__try(const void *bytes, size_t size, struct loaded_profile *loaded, char *reason);

/* The same for a file that must be accepted; valid until loaded_profile__clear(). */
const struct ls_profile *reading__read(const void *bytes, size_t size,
				       struct loaded_profile *loaded);

/*
 * The stacks with their time, sorted: all that a profile says but lines, samples and order. The
 * caller frees.
 */
char *reading__stacks(const struct ls_profile *profile);

#endif
