/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that a command makes of recordings in files. */
#ifndef LS_RECORDING_OUTPUT_H
#define LS_RECORDING_OUTPUT_H

#include <sys/types.h>

#include "options/output_choice.h"
#include "profile/profile.h"

/*
 * Writes the profile into all files of the choice, with the permissions `mode` (as in
 * record_options). `of` is what messages call the recording. 0, or -errno after reporting it; also
 * if a format needs the order of samples, and there is none: nothing is written then.
 */
int recording_output__write(const struct ls_profile *profile, const char *of,
			    const struct output_choice *outputs, mode_t mode);

#endif
