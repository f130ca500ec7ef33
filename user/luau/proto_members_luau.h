/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the members of Luau's Proto by the invariants that calibration_luau.h lists. */
#ifndef LS_PROTO_MEMBERS_LUAU_H
#define LS_PROTO_MEMBERS_LUAU_H

#include "luau/specimens_luau.h"
#include "offsets_luau.h"

/*
 * Fills in the members of Proto in *layout. The caller has set closure_function and, for what few
 * functions leave open, the offsets that the constants, the code and the children have had so far.
 * Adds prototypes to the specimens. 0; -ENODATA: *missing says what could not be derived.
 */
int proto_members_luau__find(struct specimens *specimens, struct ls_luau_layout *layout,
			     const char **missing);

#endif
