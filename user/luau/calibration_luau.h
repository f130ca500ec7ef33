/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Derives the layout of a VM of Luau that is like none that was seen, from what all of its
 * functions have in common. Each member is found by an invariant of its own, wherever it is:
 *
 * - types: the VM has a list of their names, in order;
 * - Closure: the member that points to a Proto, which is what the rest holds for;
 * - Proto.p: an array of such;
 * - lineinfo, abslineinfo, sizecode, sizelineinfo, linegaplog2: one allocation has both tables, and
 *   their sizes follow from each other;
 * - source: a string, that a function has in common with those that it defines; debugname: another
 *   one, or nil;
 * - code: where calls go on lies in it; k: as many values as sizek says;
 * - linedefined: near to the line of the first instruction, and not behind it; nups: what closures
 *   have, too.
 *
 * Where several places fit, the one relative to what is known already that has never changed is
 * taken. The result is a candidate: samples decide whether it holds.
 */
#ifndef LS_CALIBRATION_LUAU_H
#define LS_CALIBRATION_LUAU_H

#include <stddef.h>
#include <stdint.h>

#include "offsets_luau.h"
#include "process/target_memory.h"

/*
 * Fills *layout for the VM with the lua_State at `state`. 0; -ENODATA: `reason` says what could not
 * be told, as a sentence without a full stop; -ENOMEM; -EFAULT and other -errno.
 */
int calibration_luau__run(const struct target_memory *memory, uint64_t state,
			  struct ls_luau_layout *layout, char *reason, size_t reason_size);

#endif
