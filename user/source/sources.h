/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The definitions in the source texts of processes, each found once. Texts are read in a worker,
 * which ends when one takes too long.
 */
#ifndef LS_SOURCES_H
#define LS_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "source/definitions.h"

struct sources;

/* NULL when out of memory. sources__free() takes NULL. */
struct sources *sources__new(void);
void sources__free(struct sources *sources);

/*
 * Forgets a process that has ended, because another may get its PID. Until then, sources__of_file()
 * finds its files even after its end, if it looked for one before.
 */
void sources__forget(struct sources *sources, pid_t pid);

/*
 * The definitions in a file (source_file__find()) or in a text; *definitions stays valid until the
 * next call. 0, or -errno as source_file__find(), source_file__read() and definitions__find().
 */
int sources__of_file(struct sources *sources, pid_t pid, const char *name, bool as_root,
		     const struct definitions **definitions);
int sources__of_text(struct sources *sources, const char *text, size_t size,
		     const struct definitions **definitions);

#endif
