/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One output file with a profile in it, and what is said if it cannot be written. */
#ifndef LS_PROFILE_OUTPUT_H
#define LS_PROFILE_OUTPUT_H

#include "format/format.h"
#include "output/output_file.h"

/*
 * Opens an output file at `path` ("-": standard output), which messages call `called`; `mode` is
 * that of output_file__open(). 0, or -errno after reporting it.
 */
int profile_output__open(const char *path, const char *called, mode_t mode,
			 struct output_file **file);

/*
 * Writes the profile and frees `file`, which appears whole or not at all. `path` is for messages;
 * *size is in bytes, 0 if unknown. 0, or -errno after reporting it.
 */
int profile_output__write(const struct ls_profile *profile, const struct ls_totals *totals,
			  const struct format *format, const char *path, struct output_file *file,
			  uint64_t *size);

#endif
