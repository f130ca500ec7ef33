/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A folder that gets a file for each part of a session. */
#ifndef LS_OUTPUT_FOLDER_H
#define LS_OUTPUT_FOLDER_H

#include "options.h"
#include "session.h"

struct output_folder;

/*
 * Of options->output_dir, which is made if only its last component is not there, and gone again if
 * nothing was written; that files can be made in it was tried. `options` are borrowed. 0, or -errno
 * after saying why it cannot. Free with output_folder__free(), which takes NULL.
 */
int output_folder__new(const struct record_options *options, struct output_folder **folder);
void output_folder__free(struct output_folder *folder);

/*
 * Writes what the session has of each part, and says how much that was. With intervals they are new
 * files each time, else a part has one. 0 where any was written, or there was nothing; -errno if
 * all failed. What cannot be written costs none of the others, and was said.
 */
int output_folder__write(struct output_folder *folder, struct session *session);

/* How many files could not be written so far. */
uint64_t output_folder__failed(const struct output_folder *folder);

#endif
