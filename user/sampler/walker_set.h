/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walkers that are loaded. luaspy loads them itself, or has a process load them that keeps the
 * privilege to do so (walker_loader.h). A system-wide session does not wait for that process: until
 * a walker has been loaded, the samples that need it are unreadable.
 */
#ifndef LS_WALKER_SET_H
#define LS_WALKER_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/programs.h"

struct walker_loader;

struct walker_set {
	struct programs *programs;
	struct walker_loader *loader; /* NULL: this process loads walkers itself */
	bool loads_aside;             /* walker_set__need() does not wait for the loader */
	uint32_t awaited;             /* bit per family whose walker the loader was asked for */
};

/* Frees the loader, too. */
void walker_set__free(struct walker_set *set);

/* Starts the loader. 0 or -errno. */
int walker_set__delegate(struct walker_set *set);

/*
 * Loads the walkers of these families, or has the loader load them. 0, or -errno after logging why.
 */
int walker_set__need(struct walker_set *set, uint32_t families);

/*
 * Loads the walkers of all families here, or only of those that are common. A walker that cannot be
 * loaded may never be needed: -v tells. 0 or -errno of the last one; the others are loaded.
 */
int walker_set__load_all(struct walker_set *set, bool only_common);

/* Puts to use what the loader has loaded, without waiting. 0, or -errno after logging why. */
int walker_set__take(struct walker_set *set);

#endif
