/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells whether a prototype in the target's memory is still the one that was sampled. */
#ifndef LS_PROTOTYPE_PUC_H
#define LS_PROTOTYPE_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "interpreter/family.h"
#include "memory/target_memory.h"
#include "offsets_puc.h"

/*
 * Computes the fingerprint that BPF would send for the prototype at `address` now. Returns 0, or
 * -errno if it cannot be read or is no prototype.
 */
int prototype_puc__fingerprint(const struct target_memory *memory,
			       const struct ls_puc_layout *layout, uint64_t address,
			       uint64_t *fingerprint);

/*
 * Whether the prototype of `key` is still there: 0; -ESTALE: it was collected, and its memory has
 * been or is being reused; -ESRCH: its process is gone. 0 does not prove that it is alive, or was
 * alive when something was read from it just before: a dead prototype may stay intact for a while
 * when what it points to no longer is.
 */
int prototype_puc__check(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 const struct prototype_key *key);

/*
 * Reads the whole name of the chunk that the prototype at `address` was compiled from, which is the
 * chunk's text if it was loaded from a string. 0 with *text, malloc()ed, of *length bytes; -ENOENT:
 * there is none; -E2BIG: it is longer than `most`; -ENOMEM; -EFAULT, -EINVAL.
 */
int prototype_puc__source(const struct target_memory *memory, const struct ls_puc_layout *layout,
			  uint64_t address, size_t most, char **text, size_t *length);

/*
 * Whether the fingerprint covers, so that the check above proves: instruction `pc` of `count`; item
 * `index` of the constants, local variables or upvalues; the text of such an item, a string of
 * `length` bytes that `before` strings precede.
 */
bool prototype_puc__covers_code(uint32_t count, uint32_t pc);
bool prototype_puc__covers_item(uint32_t index);
bool prototype_puc__covers_text(uint32_t before, uint64_t length);

#endif
