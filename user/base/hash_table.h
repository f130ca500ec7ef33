/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Include this instead of uthash.h, which by default ends the process when out of memory. */
#ifndef LS_HASH_TABLE_H
#define LS_HASH_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Whether HASH_ADD had the memory to add `element`. If not, the caller still owns it. */
#define HASH_HAS_ADDED(element) ((element)->hh.tbl != NULL)

#endif
