/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layouts of Luau's Closure and Proto, one in each slot. */
#ifndef LS_LAYOUT_LUAU_H
#define LS_LAYOUT_LUAU_H

#include <stddef.h>
#include <stdint.h>

#include "offsets_luau.h"

struct layout_luau {
	const char *name; /* not a release's: files do not show their release */
	struct ls_luau_layout offsets;
};

/* Layouts seen in releases, or close to one that was. The index is the slot. */
extern const struct layout_luau layouts_luau[];
extern const size_t layouts_luau_count;

/* The layout in a slot: one of layouts_luau or, after those, a calibrated one. NULL: none. */
const struct layout_luau *layout_luau__get(uint32_t slot);

/* A bit for each slot with a layout. */
uint16_t layout_luau__all(void);

/* The slot of the layout with that name, or -ENOENT. */
int layout_luau__find(const char *name);

/*
 * Returns the slot of a calibrated layout (calibration_luau.h), adding it if no slot has an equal
 * one. It stays until luaspy exits, for later processes of the same release. -ENOSPC: all slots are
 * taken.
 */
int layout_luau__add(const struct ls_luau_layout *offsets);

#endif
