/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a process finds its files. A sample is often read after its process has ended, when the
 * kernel no longer tells this.
 */
#ifndef LS_SOURCE_GROUND_H
#define LS_SOURCE_GROUND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct source_ground {
	pid_t pid;         /* the process whose root the paths begin at */
	uint64_t birth_ns; /* process__program_birth_ns() */
	char *folder;      /* its working directory, from that root; NULL: not known */
	bool is_shared;    /* its root and mounts are those of luaspy */
};

/*
 * Reads the ground of `pid` into *ground, which is zeroed or from an earlier call; the folder,
 * whose file system may not answer, only if it `needs_folder`. If the process has ended since then,
 * its files are those in luaspy's own root, provided that this was its root, too. 0 or -errno. Free
 * with __free() in every case.
 */
int source_ground__read(pid_t pid, bool needs_folder, struct source_ground *ground);
void source_ground__free(struct source_ground *ground);

#endif
