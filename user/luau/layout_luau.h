/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ways in which Luau's Closure and Proto are laid out, each with a slot. */
#ifndef LS_LAYOUT_LUAU_H
#define LS_LAYOUT_LUAU_H

#include <stddef.h>
#include <stdint.h>

#include "offsets_luau.h"

struct layout_luau {
	const char *name; /* not of a release: no file tells which one it has */
	struct ls_luau_layout offsets;
};

/* Those that were seen, or are near to one that was. The index is the slot. */
extern const struct layout_luau layouts_luau[];
extern const size_t layouts_luau_count;

/* The layout in a slot: one of those or, behind them, one that was calibrated. NULL: none. */
const struct layout_luau *layout_luau__get(uint32_t slot);

/* A bit for each slot with a layout. */
uint16_t layout_luau__all(void);

/* The slot of the layout with that name, or -ENOENT. */
int layout_luau__find(const char *name);

/*
 * Returns the slot of a layout that was calibrated (calibration_luau.h), which is a new one if no
 * slot has an equal layout. It stays until luaspy ends, for processes of the same release that come
 * later. -ENOSPC: all slots are taken.
 */
int layout_luau__add(const struct ls_luau_layout *offsets);

#endif
