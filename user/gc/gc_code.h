/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the code of the garbage collector is, in a file that contains a VM. */
#ifndef LS_GC_CODE_H
#define LS_GC_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "target.h"

#define GC_CODE_MAX (LS_CODE_MAP_MAX / 2)

struct gc_code {
	/* As in struct ls_image; at the file's own addresses until gc_code__move(). */
	struct ls_code map[GC_CODE_MAX];
	uint32_t map_count;
	bool is_known;
	char how[128]; /* how it was found, or why it is not known */
};

/* Adds `distance`, from the file's own addresses to those in a process, to all addresses. */
static inline void gc_code__move(struct gc_code *gc, uint64_t distance)
{
	for (uint32_t i = 0; i < gc->map_count; i++)
		gc->map[i].address += distance;
}

#endif
