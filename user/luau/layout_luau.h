/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ways in which Luau's Closure and Proto were seen to be laid out. */
#ifndef LS_LAYOUT_LUAU_H
#define LS_LAYOUT_LUAU_H

#include <stddef.h>

#include "offsets_luau.h"

struct layout_luau {
	const char *name; /* not of a release: no file tells which one it has */
	struct ls_luau_layout offsets;
};

/* The index is the slot. */
extern const struct layout_luau layouts_luau[];
extern const size_t layouts_luau_count;

/* The slot of the layout with that name, or -ENOENT. */
int layout_luau__find(const char *name);

#endif
