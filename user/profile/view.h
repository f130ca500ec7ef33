/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as the user wants to see it: the same time and samples, on other stacks.
 *
 * coroutines  Keeps what runs in a coroutine whose first function matches, or is called from there:
 *             stacks begin there. All other script becomes the function "(other coroutines)" of its
 *             category. A main thread is a coroutine, too.
 * plugins     A function gets the flag LS_FUNCTION_PLUGIN if its chunk matches, or if such a
 *             function called it, directly or not. In other stacks it has no flag, and is a
 *             separate function.
 * ignored     Matching functions are removed from the stacks. Their self time and samples go to the
 *             caller or, without one, to the function "(ignored)" of the category.
 */
#ifndef LS_VIEW_H
#define LS_VIEW_H

#include <stdbool.h>

#include "profile/patterns.h"
#include "profile/profile.h"

struct view_options {
	struct patterns coroutines; /* patterns__fit() */
	struct patterns plugins;    /* patterns__fit_chunk() */
	struct patterns ignored;    /* patterns__fit() */
};

struct view;

/* Whether the options change anything. */
bool view_options__are_any(const struct view_options *options);

/*
 * 0 or -ENOMEM; *view is then NULL. `from` is a profile as recorded. Names and the timeline's
 * samples are borrowed from it.
 */
int view__new(const struct ls_profile *from, const struct view_options *options,
	      struct view **view);
void view__free(struct view *view);

/* Owned by the view. It still has functions to which no node refers any more. */
const struct ls_profile *view__profile(const struct view *view);

#endif
