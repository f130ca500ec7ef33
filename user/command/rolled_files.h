/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of one session, one after the other, and which of them stay. */
#ifndef LS_ROLLED_FILES_H
#define LS_ROLLED_FILES_H

#include <stdint.h>
#include <time.h>

struct rolled_files;

/*
 * They are all in the folder of `path`, which must be there. `count` and `bytes` are of how many
 * intervals they may stay and how much they may hold together; 0: no matter. 0 or -errno. Free with
 * rolled_files__free(), which takes NULL.
 */
int rolled_files__new(const char *path, uint64_t count, uint64_t bytes,
		      struct rolled_files **files);
void rolled_files__free(struct rolled_files *files);

/* The folder, open as a path (O_PATH): it is that one wherever it is moved. */
int rolled_files__folder(const struct rolled_files *files);

/* What is written from here on is of another interval. */
void rolled_files__begin(struct rolled_files *files);

/*
 * What a file is to be called whose profile began at `begin`: `path` is that without the date,
 * which goes before the ending, and a number after it where there is a file of that name. NULL: out
 * of memory, or there are very many of it. Valid until the next call.
 */
const char *rolled_files__name(struct rolled_files *files, const char *path, time_t begin);

/*
 * The file of the name given last is written. Removes the files of the oldest intervals until the
 * rest is as it may be; those of the newest stay, and so does what is not any more what was
 * written. What cannot be removed it says. 0 or -ENOMEM.
 */
int rolled_files__add(struct rolled_files *files);

#endif
