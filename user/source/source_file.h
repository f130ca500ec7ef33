/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file that a process has loaded a script from, as the process sees it: from its root, and from
 * its working directory if the name is relative. Neither the process nor the name is trusted.
 */
#ifndef LS_SOURCE_FILE_H
#define LS_SOURCE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "source/path_context.h"

#define SOURCE_BYTES_MAX (8U << 20) /* more than any script that people write */

struct source_file {
	int found; /* open with O_PATH */
	struct stat status;
	bool as_root;
};

/*
 * Finds the file of process `pid` and updates its *context. Unless `as_root`,
 * source_file__read() opens only files that luaspy's own user may read, although luaspy's
 * capabilities would open more. 0; -ESTALE: the file, or a symbolic link to it, has changed since
 * the program began, so what was loaded may have been another text; -ENOEXEC: not a regular file;
 * -EFBIG; -EPERM: it is in quarantine; other -errno. Close it after 0 only.
 */
int source_file__find(pid_t pid, struct path_context *context, const char *name, bool as_root,
		      struct source_file *file);
void source_file__close(struct source_file *file);

/* Reads all of it, malloc()ed. 0; -ESTALE: it changes meanwhile; -EBUSY: a lease; other -errno. */
int source_file__read(const struct source_file *file, char **text, size_t *size);

#endif
