/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Derives the layout of a Luau VM that no known layout fits, from what all of its functions have in
 * common. Each member is found by its own invariant, at any offset:
 *
 * - types: the VM has a list of their names, in order;
 * - Closure: the member that points to a Proto, for which the rest holds;
 * - Proto.p: an array of pointers to Protos;
 * - lineinfo, abslineinfo, sizecode, sizelineinfo, linegaplog2: one allocation has both tables, and
 *   their sizes follow from each other;
 * - source: a string that a function shares with the functions that it defines; debugname: another
 *   string, or nil;
 * - code: savedpc of the calls points into it; k: it has sizek values;
 * - linedefined: shortly before the line of the first instruction, or equal; nups: closures have
 *   the same number.
 *
 * If several offsets fit, the member is where it has always been relative to those found before.
 * The result is a candidate: samples decide whether it holds.
 */
#ifndef LS_CALIBRATION_LUAU_H
#define LS_CALIBRATION_LUAU_H

#include <stddef.h>
#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_luau.h"

/*
 * Fills *layout for the VM with the lua_State at `state`. 0; -ENODATA: `reason` says what could not
 * be derived, as a sentence without a full stop; -ENOMEM; -EFAULT and other -errno.
 */
int calibration_luau__run(const struct target_memory *memory, uint64_t state,
			  struct ls_luau_layout *layout, char *reason, size_t reason_size);

#endif
