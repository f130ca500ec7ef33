/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that get the same profile, each in its format: all that '--output' named. */
#ifndef LS_OUTPUT_SET_H
#define LS_OUTPUT_SET_H

#include <stdbool.h>
#include <time.h>

#include "options/output_choice.h"
#include "output/profile_output.h"
#include "output/rolled_files.h"

/* All fields are private. */
struct output_set {
	const struct output_choice *choice; /* borrowed; its formats are decided */
	mode_t mode;
	struct {
		const char *path;           /* of the file that is open */
		struct output_file *file;   /* NULL: none is open */
		struct rolled_files *files; /* one per interval; NULL: not by interval */
	} items[OUTPUT_CHOICE_MAX];
};

/*
 * Opens all files. 0, or -errno after reporting it: none is open then. Close the set in either
 * case. A wrong path must not cost a recording, so this is to be called before it.
 */
int output_set__open(struct output_set *set, const struct output_choice *choice, mode_t mode);

/*
 * The same for files by interval, of which the newest are kept as rolled_files__new() says, each
 * name's on its own: checks that they can be written, and leaves none open.
 */
int output_set__open_by_interval(struct output_set *set, const struct output_choice *choice,
				 mode_t mode, uint64_t keep, uint64_t keep_bytes);

/* Opens the files of an interval that began at `begin`. 0, or -errno after reporting it. */
int output_set__begin(struct output_set *set, time_t begin);

/*
 * Opens other files for the same names, to be written before those of `set`. A file that is written
 * directly has none, which a warning says. 0, or -errno after reporting it; -ENOTSUP: no file has
 * one. Close `again` in either case.
 */
int output_set__again(const struct output_set *set, struct output_set *again);

/*
 * Writes the profile into all open files and closes them. A failure is reported and does not affect
 * the other files. 0 or the first failure.
 */
int output_set__write(struct output_set *set, const struct ls_profile *profile,
		      const struct ls_totals *totals);

/* Of the files written last: by index, or NULL behind the last of them. "-" is standard output. */
const char *output_set__path(const struct output_set *set, size_t index);
const struct format *output_set__format(const struct output_set *set, size_t index);

/* Discards what is open, and frees the rest. A set that is all zero may be closed, too. */
void output_set__close(struct output_set *set);

#endif
