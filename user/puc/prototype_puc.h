/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A prototype in the target's memory: whether it is still the one that was sampled. */
#ifndef LS_PROTOTYPE_PUC_H
#define LS_PROTOTYPE_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "target_memory.h"

/*
 * The fingerprint that BPF would send for the prototype at `address` now. 0, or -errno where it
 * cannot be read or is no prototype.
 */
int prototype_puc__fingerprint(const struct target_memory *memory,
			       const struct ls_puc_layout *layout, uint64_t address,
			       uint64_t *fingerprint);

/* A prototype as it was sampled. */
struct prototype_key {
	uint64_t address;
	uint64_t fingerprint;
};

/*
 * Whether that one is there now: 0; -ESTALE: it was collected, and something else is there or is
 * becoming so; -ESRCH: its process is gone. 0 is no proof that it lives, or lived when something
 * was read of it just before: what is dead may stand for a while, and what it points to no more.
 */
int prototype_puc__check(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 const struct prototype_key *key);

/*
 * What the fingerprint covers, and that check proves: instruction `pc` of so many; item `index` of
 * the constants, local variables or upvalues; the text of one of these that is a string of
 * `length` bytes, of which `before` strings come before it.
 */
bool prototype_puc__covers_code(uint32_t count, uint32_t pc);
bool prototype_puc__covers_item(uint32_t index);
bool prototype_puc__covers_text(uint32_t before, uint64_t length);

#endif
