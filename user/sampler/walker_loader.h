/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that keeps the privilege to load walkers while luaspy gives it up. So a session
 * starts in half of the time, with only the walkers that its targets need, and can still load
 * another one when a target executes another interpreter. A system-wide session, which keeps its
 * privileges, goes on meanwhile. The process accepts nothing but the number of a family.
 */
#ifndef LS_WALKER_LOADER_H
#define LS_WALKER_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/programs.h"

struct walker_loader;

/*
 * Forks the process, which ends when luaspy does or calls walker_loader__free(); that takes NULL.
 * `programs` must be loaded. 0 or -errno.
 */
int walker_loader__start(const struct programs *programs, struct walker_loader **loader);
void walker_loader__free(struct walker_loader *loader);

/* Asks it to load the walker of a family. 0 or -errno. */
int walker_loader__request(const struct walker_loader *loader, uint32_t family);

/*
 * Waits until it has loaded the walker that it was first asked for of those it has not handed over,
 * which takes some dozen milliseconds; walker_loader__fd() can be read then. 0 with *walker, for
 * programs__add_walker(); or -errno, and `why` explains it (load_failure__explain()). *family stays
 * as it is if the process has ended.
 */
int walker_loader__receive(const struct walker_loader *loader, uint32_t *family,
			   struct walker_files *walker, char *why, size_t size);

/* -1 for NULL. */
int walker_loader__fd(const struct walker_loader *loader);

/* CPU time that the process has used; 0 for NULL. */
uint64_t walker_loader__cpu_ns(struct walker_loader *loader);

#endif
