/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A folder that gets a file for each part of a session. */
#ifndef LS_OUTPUT_FOLDER_H
#define LS_OUTPUT_FOLDER_H

#include "options/options.h"
#include "session/session_profile.h"

struct output_folder;

/*
 * Uses options->output_dir: creates it if only its last component is missing, and removes it again
 * if nothing was written. Checks that files can be created in it. `options` is borrowed. 0, or
 * -errno after reporting why. Free with output_folder__free(), which takes NULL.
 */
int output_folder__new(const struct record_options *options, struct output_folder **folder);
void output_folder__free(struct output_folder *folder);

/*
 * Writes the session's profile of each part. With intervals each call writes new files; otherwise a
 * part keeps one file. 0 if any was written, or there was nothing to write; -errno if all failed. A
 * failure is reported and does not affect other parts.
 */
int output_folder__write(struct output_folder *folder, struct session *session);

/* Reports how many files that was, and returns it; 0 if it was reported before. */
uint64_t output_folder__report(struct output_folder *folder);

/* How many files could not be written so far. */
uint64_t output_folder__failed(const struct output_folder *folder);

#endif
