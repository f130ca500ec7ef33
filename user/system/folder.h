/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The folder of a path, held open, so that renames do not affect lookups in it. */
#ifndef LS_FOLDER_H
#define LS_FOLDER_H

#include <stdbool.h>

/* The part of `path` after its last slash; may be empty. */
const char *folder__name_in(const char *path);

/*
 * Opens the folder that contains the last component of `path`, for lookups only (O_PATH). Returns a
 * descriptor or -errno.
 */
int folder__open_of(const char *path);

/*
 * Whether an untrusted user may have planted the file or link at `path`: its owner is not trusted
 * (user_rights__trust()), and its folder is sticky and writable by its group or by others, like
 * /tmp.
 */
bool folder__is_strangers(const char *path);

#endif
