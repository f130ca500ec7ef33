/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first functions of a profile's coroutines, among which --coroutine chooses. */
#ifndef LS_COROUTINE_STARTS_H
#define LS_COROUTINE_STARTS_H

#include "profile/patterns.h"
#include "profile/profile.h"

/* Warns if there are globs but none fits, and says which functions there are. */
void coroutine_starts__warn(const struct ls_profile *recorded, const struct patterns *globs);

#endif
