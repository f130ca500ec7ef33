/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that a session writes one after the other, and which of them are kept. */
#ifndef LS_ROLLED_FILES_H
#define LS_ROLLED_FILES_H

#include <stdint.h>
#include <time.h>

struct rolled_files;

/*
 * All files are in the folder of `path`, which must exist. Those of up to `count` intervals are
 * kept, and up to `bytes` in total; 0: no limit. 0 or -errno. Free with rolled_files__free(), which
 * takes NULL.
 */
int rolled_files__new(const char *path, uint64_t count, uint64_t bytes,
		      struct rolled_files **files);
void rolled_files__free(struct rolled_files *files);

/* The folder's descriptor (O_PATH), owned by `files`. It follows the folder if that is moved. */
int rolled_files__folder(const struct rolled_files *files);

/* Begins another interval: files written from here on belong to it. */
void rolled_files__begin(struct rolled_files *files);

/*
 * The path of a file whose profile began at `begin`: `path` with the date before its extension and,
 * if that file exists, a number after the date. NULL: out of memory, or too many such files exist.
 * Valid until the next call.
 */
const char *rolled_files__name(struct rolled_files *files, const char *path, time_t begin);

/*
 * To be called when the file named last was written. Removes the files of the oldest intervals
 * until the limits are met, but not those of the newest, nor files that were changed after they
 * were written. Logs a warning for files that it cannot remove. 0 or -ENOMEM.
 */
int rolled_files__add(struct rolled_files *files);

#endif
