/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that appears whole or not at all: written to a temporary name in the same folder, then
 * renamed. An existing file is replaced and keeps no more permissions than it had; a symbolic link
 * is replaced itself. Under sudo the file belongs to whoever called it.
 *
 * "-" is standard output. /dev/stdout, /dev/stderr, /dev/fd/N (as in `-o >(gzip)`), /dev/null,
 * /dev/full and /dev/tty are written directly.
 */
#ifndef LS_OUTPUT_FILE_H
#define LS_OUTPUT_FILE_H

#include <stdio.h>

struct output_file;

/*
 * Checks that `path` can be written and opens the temporary file. 0 or -errno; *file is then NULL.
 * -EISDIR is a folder, -EINVAL something else that is no regular file, also behind a symbolic link;
 * -EBADF a descriptor that is not open for writing.
 * Call it before a session starts: a wrong path must not cost the user a recording.
 */
int output_file__open(const char *path, struct output_file **file);

/* Where to write. Owned by the file. */
FILE *output_file__stream(struct output_file *file);

/*
 * Another one for the same name, to be there before `file` is. 0 or -errno; *again is then NULL.
 * -ENOTSUP: `file` is written directly, so there is no before.
 */
int output_file__again(const struct output_file *file, struct output_file **again);

/*
 * Flushes, checks for every error on the way, renames and frees. 0 or -errno: nothing has then
 * changed under `path`. -EIO stands for an earlier failure of the stream whose cause is not known.
 */
int output_file__commit(struct output_file *file);

/* Removes the temporary file and frees. Takes NULL. */
void output_file__discard(struct output_file *file);

#endif
