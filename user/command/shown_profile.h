/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile as the options want it shown, ready to be written. */
#ifndef LS_SHOWN_PROFILE_H
#define LS_SHOWN_PROFILE_H

#include "merged_profile.h"
#include "options.h"
#include "output_file.h"
#include "totals.h"
#include "view.h"

struct shown_profile {
	struct view *view; /* NULL: as it was recorded */
	struct merged_profile *merged;
	struct ls_totals totals;
};

/*
 * `raw` is a profile as recorded, borrowed. 0, or -errno after saying so. Free with
 * shown_profile__free(), also after a failure.
 */
int shown_profile__make(const struct ls_profile *raw, const struct record_options *options,
			struct shown_profile *shown);
void shown_profile__free(struct shown_profile *shown);

/*
 * Opens a file for it at `path`, "-" is standard output, which messages call `called`. 0, or -errno
 * after saying so.
 */
int shown_profile__open(const char *path, const char *called, struct output_file **file);

/*
 * Writes the profile and ends the file: there whole, or not at all. `path` is for messages; *size
 * is in bytes, 0 where it is not known. 0, or -errno after saying so.
 */
int shown_profile__write(const struct shown_profile *shown, const char *path,
			 struct output_file *file, uint64_t *size);

#endif
