/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A cgroup for one test, at the top of the unified hierarchy. */
#ifndef TEST_CGROUP_H
#define TEST_CGROUP_H

#include "stage.h"

/*
 * Makes it and returns its folder, which the stage removes at its end, once no process is in it.
 * NULL if none can be made here.
 */
const char *cgroup__make(struct stage *stage, const char *name);

#endif
