/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "gc/gc_code.h"

void gc_code__move(struct gc_code *gc, uint64_t distance)
{
	for (uint32_t i = 0; i < gc->map_count; i++)
		gc->map[i].address += distance;
}
