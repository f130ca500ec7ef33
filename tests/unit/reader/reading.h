/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles that are written in a format, and files that are read as one. */
#ifndef TEST_READING_H
#define TEST_READING_H

#include "reader/input_format.h"

/* What is written in a format; the caller frees it. */
char *reading__write(const char *format, const struct ls_profile *profile, size_t *size);

/* Reads whatever it is; `reason` says why it is not taken. 0 or a negative errno. */
int reading__try(const void *bytes, size_t size, struct loaded_profile *loaded, char *reason);

/* The same of what is to be taken; valid until loaded_profile__clear(). */
const struct ls_profile *reading__read(const void *bytes, size_t size,
				       struct loaded_profile *loaded);

/*
 * The stacks with their time, sorted: all that a profile says but lines, samples and order. The
 * caller frees.
 */
char *reading__stacks(const struct ls_profile *profile);

#endif
