/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The desktop of the user for whom luaspy works: under sudo, of the user who called it. Programs
 * that it starts are that user's, never root's.
 */
#ifndef LS_DESKTOP_H
#define LS_DESKTOP_H

#include <stdbool.h>

#include "system/invoker.h"

struct desktop {
	bool is_for_another; /* than luaspy's own user */
	struct invoker invoker;
	char **environment; /* of that user; NULL: luaspy's own */
};

/* 0 or -ENOMEM. Close it in either case. */
int desktop__find(struct desktop *desktop);
void desktop__close(struct desktop *desktop);

/* A variable of that user's environment. NULL: it is not set, or empty. */
const char *desktop__variable(const struct desktop *desktop, const char *name);

/* Whether there is a screen to show anything on. */
bool desktop__has_screen(const struct desktop *desktop);

/*
 * Has the desktop show a file (xdg-open), which goes on when luaspy ends. `path` is absolute. 0, or
 * -errno: -ENOENT: there is no xdg-open; -EIO: it failed within the second that luaspy waits.
 */
int desktop__show(const struct desktop *desktop, const char *path);

#endif
