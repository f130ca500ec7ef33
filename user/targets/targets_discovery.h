/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds processes that hold Lua. */
#ifndef LS_TARGETS_DISCOVERY_H
#define LS_TARGETS_DISCOVERY_H

#include "record.h"

struct targets;

/* Takes in a record from BPF. 0 or -ENOMEM. */
int targets__fork(struct targets *targets, const struct ls_fork *fork);

/*
 * The processes with Lua that fit no name, user or cgroup that was asked for: "lua5.4 (pid 42);
 * ..." NULL: none. Valid until the next call.
 */
const char *targets__rejected(struct targets *targets);

/* ---- for targets*.c alone */

/*
 * Adds the descendants that the processes asked for have now, and starts their timers. 0 or -errno;
 * what is wrong with one of them was logged.
 */
int targets__add_children(struct targets *targets);

/* The same for all processes of the host that hold Lua, and begins to watch for others. */
int targets__watch_system(struct targets *targets);

/* Adds processes that have loaded Lua since. 0 or -errno. */
int targets__add_new(struct targets *targets);

#endif
