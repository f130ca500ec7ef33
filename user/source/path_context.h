/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process's paths are relative to (path_resolution(7)). luaspy often reads a sample after
 * the process has ended, when the kernel no longer tells this.
 */
#ifndef LS_PATH_CONTEXT_H
#define LS_PATH_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct path_context {
	pid_t pid;         /* the process whose root paths begin at */
	uint64_t birth_ns; /* process__program_birth_ns() */
	char *folder;      /* its working directory, from that root; NULL: not known */
	bool is_shared;    /* its root and mounts are those of luaspy */
};

/*
 * Updates *context, which is zeroed or from an earlier call for this process. Reads the working
 * directory only if `needs_folder`, because its file system may not answer. If the process has
 * ended since the earlier call, paths begin at luaspy's own root, provided that the process shared
 * it. 0 or -errno. Free with __free() in every case.
 */
int path_context__read(pid_t pid, bool needs_folder, struct path_context *context);
void path_context__free(struct path_context *context);

#endif
