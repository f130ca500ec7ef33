/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that appears whole or not at all: it is written in the same folder without a name
 * (O_TMPFILE) or with a temporary one, then linked or renamed. A symbolic link is itself replaced.
 * The replacement of an existing file keeps its owner, group and mode, except write permission for
 * others, as far as the user's rights go (user_rights.h); a new file is 0640 less the umask. Under
 * sudo the file is made by, and belongs to, the user who called sudo if they can make it, else
 * root.
 *
 * "-" is standard output. /dev/stdout, /dev/stderr, /dev/fd/N (as in `-o >(gzip)`), /dev/null,
 * /dev/full and /dev/tty are written directly.
 */
#ifndef LS_OUTPUT_FILE_H
#define LS_OUTPUT_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* Output files are never executable, and only their owner and group may write them. */
#define OUTPUT_FILE_MODE_MOST 0664

struct output_file;

/*
 * Checks that `path` can be written and opens the temporary file. `mode` is the mode of the file,
 * regardless of the umask or an existing file; 0: as above. 0 or -errno; *file is then NULL.
 * -EISDIR: `path` is a folder; -EINVAL: it is something else that is not a regular file, also
 * behind a symbolic link; -EBADF: it is a descriptor that is not open for writing.
 * Call it before a session starts: a wrong path must not cost the user a recording.
 */
int output_file__open(const char *path, mode_t mode, struct output_file **file);

/* The stream to write to. Owned by the file. */
FILE *output_file__stream(struct output_file *file);

/*
 * Opens another file for the same name, to be committed before `file`. 0 or -errno; *again is then
 * NULL. -ENOTSUP: `file` is written directly, so there is nothing to commit before it.
 */
int output_file__again(const struct output_file *file, struct output_file **again);

/*
 * Flushes, checks for every error on the way, renames and frees. 0 or -errno: `path` is then
 * unchanged. -EIO stands for an earlier failure of the stream whose cause is not known.
 */
int output_file__commit(struct output_file *file);

/* Removes the temporary file and frees. Takes NULL. */
void output_file__discard(struct output_file *file);

#endif
