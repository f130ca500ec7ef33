/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit/layout_luajit.h"

#include <errno.h>
#include <string.h>

/*
 * The member vmthref came between registrytv and uvhead of global_State in 2023, which moved all
 * behind it. Where the array of traces is depends on the size of jit_State as well; a walk looks at
 * each place.
 */
const struct layout_luajit layouts_luajit[] = {
	{
		.name = "2.1-rolling",
		.offsets = {.global_current = 376,
			    .global_jit_base = 384,
			    .global_traces = {1128, 1120, 1136}},
	},
	{
		/* Debian's git20220320, and OpenResty's releases up to v2.1-20240314 */
		.name = "2.1-beta3",
		.offsets = {.global_current = 368,
			    .global_jit_base = 376,
			    .global_traces = {1112, 1120, 1104}},
	},
};

const size_t layouts_luajit_count = sizeof(layouts_luajit) / sizeof(layouts_luajit[0]);

int layout_luajit__find(const char *name)
{
	for (size_t i = 0; i < layouts_luajit_count; i++)
		if (!strcmp(layouts_luajit[i].name, name))
			return (int)i;
	return -ENOENT;
}
