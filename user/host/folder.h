/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The folder of a path, held open: what is looked up in it stays there whatever is renamed. */
#ifndef LS_FOLDER_H
#define LS_FOLDER_H

/* What stands after the last slash of a path, maybe nothing: a part of `path`. */
const char *folder__name_in(const char *path);

/* Opens the folder that the path leads to, for lookups only. A descriptor, or -errno. */
int folder__open_of(const char *path);

#endif
