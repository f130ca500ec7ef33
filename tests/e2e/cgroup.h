/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A cgroup of a test's own, at the top of the unified hierarchy. */
#ifndef TEST_CGROUP_H
#define TEST_CGROUP_H

#include "stage.h"

/*
 * Its folder, which the stage removes at its end, once no process is in it any more; NULL: none can
 * be made here.
 */
const char *cgroup__make(struct stage *stage, const char *name);

#endif
