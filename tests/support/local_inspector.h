/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An inspector that reads in the test's own process. */
#ifndef LS_LOCAL_INSPECTOR_H
#define LS_LOCAL_INSPECTOR_H

#include "interpreter/inspection.h"

/* Returns the same one each time, valid until the program ends; NULL when out of memory. */
struct inspector *local_inspector(void);

#endif
