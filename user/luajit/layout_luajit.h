/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layouts of LuaJIT, one per class of releases whose structs are equal. */
#ifndef LS_LAYOUT_LUAJIT_H
#define LS_LAYOUT_LUAJIT_H

#include <stddef.h>

#include "offsets_luajit.h"
#include "target.h"

struct layout_luajit {
	const char *name;
	struct ls_luajit_layout offsets;
};

extern const struct layout_luajit layouts_luajit[];
extern const size_t layouts_luajit_count; /* at most LS_LAYOUT_MAX */

/* Returns the index of the layout with that name, or -ENOENT. */
int layout_luajit__find(const char *name);

#endif
