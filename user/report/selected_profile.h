/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a report shows: one profile of one or several recordings, without what was not asked for.
 * Categories of one name become one, and so do functions that look alike (function_looks.h); the
 * lines of a function are its histogram, whether or not it was recorded line by line.
 *
 * What is left out takes its time with it, so that all totals follow, as in Roblox's profiler: the
 * garbage collector, plugins with all that they call, and with a focus all stacks without that
 * function. The others then begin there, and their time outside of it is left out.
 */
#ifndef LS_SELECTED_PROFILE_H
#define LS_SELECTED_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

struct selection {
	bool no_gc, no_plugins;
	const char *focus; /* function_looks__fit(); NULL: none */
};

struct selected_profile;

/*
 * `count` profiles (1 or more) with parents before children, as read_profile.h says. 0, -ENOMEM,
 * -ENOENT: no function fits the focus; -EOVERFLOW: together they have more than 2^32 functions.
 * *made is NULL then. Names are borrowed from the profiles.
 */
int selected_profile__new(const struct ls_profile *const *profiles, size_t count,
			  const struct selection *selection, struct selected_profile **made);
void selected_profile__free(struct selected_profile *selected);

/* Valid until it is freed. It has no samples in order of time. */
const struct ls_profile *selected_profile__profile(const struct selected_profile *selected);

/* CPU time of the profiles, in all and without what is left out, in nanoseconds. */
uint64_t selected_profile__all_ns(const struct selected_profile *selected);
uint64_t selected_profile__kept_ns(const struct selected_profile *selected);

/* Functions whose lines are not known because part of their time is left out. */
uint32_t selected_profile__without_lines(const struct selected_profile *selected);

#endif
