/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the prototype at `parent` calls the functions that it defines: the variable, or the field of
 * a variable, that its code stores them in. The names are those that the source text has for the
 * same definitions (source/definitions.h), or there are none: compilers keep no difference between
 * "function M:f()" and "M.f = function(self)" on one line, and nothing of stripped chunks.
 */
#ifndef LS_DEFINITION_PUC_H
#define LS_DEFINITION_PUC_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_puc.h"
#include "symbols/nested_definitions.h"

/*
 * Adds the names to *found, which is empty. Afterwards, check with the fingerprint that the parent
 * is still the one that was sampled. 0; -E2BIG: it is longer than any that people write; -ENOMEM;
 * -EFAULT: cannot be read; -EINVAL: inconsistent (torn or hostile).
 */
int definition_puc__read(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 uint64_t parent, struct nested_definitions *found);

#endif
