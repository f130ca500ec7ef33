/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as somebody wants to see it: the same time and samples, on other stacks.
 *
 * coroutines  Only what runs in a coroutine whose first function fits, or is called by it: stacks
 *             begin there. All other script is the function "(other coroutines)" of its category.
 *             A main thread is a coroutine, too.
 * plugins     A function that is defined in a chunk that fits, or was called by one, whoever stands
 *             between, has the flag LS_FUNCTION_PLUGIN. In other stacks it has not, and is another.
 * ignored     Functions that fit leave the stacks. What they took themselves is their caller's;
 *             where they had none, that of the function "(ignored)" of the category.
 */
#ifndef LS_VIEW_H
#define LS_VIEW_H

#include <stdbool.h>

#include "patterns.h"
#include "profile.h"

struct view_options {
	struct patterns coroutines; /* patterns__fit() */
	struct patterns plugins;    /* patterns__fit_chunk() */
	struct patterns ignored;    /* patterns__fit() */
};

struct view;

/* Whether there is anything to be seen otherwise. */
bool view_options__are_any(const struct view_options *options);

/*
 * 0 or -ENOMEM; *view is then NULL. `from` is a profile as recorded. Names and samples in time are
 * borrowed from it.
 */
int view__new(const struct ls_profile *from, const struct view_options *options,
	      struct view **view);
void view__free(struct view *view);

/* Owned by the view. Functions that nothing calls any more are among it. */
const struct ls_profile *view__profile(const struct view *view);

#endif
