/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of one session, one after the other, and which of them stay. */
#ifndef LS_ROLLED_FILES_H
#define LS_ROLLED_FILES_H

#include <stdint.h>
#include <time.h>

struct rolled_files;

/*
 * `path` is what they are called without their dates. `count` and `bytes` are how many may stay and
 * how much they may hold together; 0: no matter. 0 or -errno; the path's folder must be there. Free
 * with rolled_files__free(), which takes NULL.
 */
int rolled_files__new(const char *path, uint64_t count, uint64_t bytes,
		      struct rolled_files **files);
void rolled_files__free(struct rolled_files *files);

/*
 * What a file is to be called whose profile began at `begin`: the date goes before the ending of
 * `path`, and a number after it where there is a file of that name. NULL: out of memory, or there
 * are very many of it. Valid until the next call.
 */
const char *rolled_files__name(struct rolled_files *files, time_t begin);

/*
 * The file of the name given last is written. Removes the oldest until the rest is as it may be;
 * the newest stays, and so does what is not any more what was written. What cannot be removed it
 * says. 0 or -ENOMEM.
 */
int rolled_files__add(struct rolled_files *files);

#endif
