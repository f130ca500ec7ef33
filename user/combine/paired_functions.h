/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions before a change are those after it, although their lines moved.
 *
 * Functions that look alike are one anyhow. Beyond that, a function of one side that no function of
 * the other side looks like is paired by source, name and flags, if it is the only one of these on
 * its side, and the other side has exactly one such function, too. Functions without a name are
 * never paired, nor are those that stand for one line that runs.
 */
#ifndef LS_PAIRED_FUNCTIONS_H
#define LS_PAIRED_FUNCTIONS_H

#include <stddef.h>

#include "profile/profile.h"

struct paired_functions;

/*
 * Finds the pairs in `count` recordings, of which the first `before_count` are from before. They
 * stay borrowed. 0 or -ENOMEM; *paired is then NULL.
 */
int paired_functions__new(const struct ls_profile *const *from, size_t count, size_t before_count,
			  struct paired_functions **paired);
void paired_functions__free(struct paired_functions *paired);

/* The function after the change that `function` is: `function` itself if it has no pair. */
const struct ls_profile_function *
paired_functions__after(const struct paired_functions *paired,
			const struct ls_profile_function *function);

#endif
