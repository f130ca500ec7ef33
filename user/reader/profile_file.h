/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording in a file: the input of commands that work without a target. */
#ifndef LS_PROFILE_FILE_H
#define LS_PROFILE_FILE_H

#include "profile/profile.h"

struct profile_file;

/*
 * Reads a file of any format in input_format_table.h, which may be compressed, to its end; `path`
 * may be a FIFO, and "-" is standard input. It is opened with the user's rights (user_rights.h). 0,
 * or -errno after reporting what is wrong; *file is then NULL.
 */
int profile_file__open(const char *path, struct profile_file **file);

/* Frees it. Takes NULL. */
void profile_file__close(struct profile_file *file);

/* As read_profile__profile() describes it, valid until the file is closed. */
const struct ls_profile *profile_file__profile(const struct profile_file *file);

#endif
