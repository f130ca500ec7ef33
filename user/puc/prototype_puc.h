/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A prototype in the target's memory: whether it is still the one that was sampled. */
#ifndef LS_PROTOTYPE_PUC_H
#define LS_PROTOTYPE_PUC_H

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

#endif
