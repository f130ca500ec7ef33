/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uthash, which by itself ends the process when out of memory. Include this instead of it. */
#ifndef LS_HASH_TABLE_H
#define LS_HASH_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Whether HASH_ADD found the memory to take in `element`, which is still the caller's if not. */
#define HASH_HAS_ADDED(element) ((element)->hh.tbl != NULL)

#endif
