/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names under which a Lua state knows its C functions: "string.format" from package.loaded
 * (as lauxlib's pushglobalfuncname does it), then from the tables among its globals ("redis.call"),
 * then from the metatables in its registry ("FILE*:read"). And those of the script functions that
 * stand beside them, or that the program keeps in its registry by name: those it calls itself.
 */
#ifndef LS_C_FUNCTIONS_PUC_H
#define LS_C_FUNCTIONS_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "target_memory.h"

struct c_functions_puc;

/* NULL when out of memory. Free with c_functions_puc__free(), which takes NULL. */
struct c_functions_puc *c_functions_puc__new(void);
void c_functions_puc__free(struct c_functions_puc *functions);

/*
 * Reads the tables of the VM that `state` belongs to and adds what they name; a name that is there
 * already stays. Of several names of one function: package.loaded before libraries among the
 * globals before other globals before metatables before the registry, then the shortest, then the
 * first in the alphabet; string.gfind and math.mod of 5.1 last of all. A function behind closures
 * of different names (a trampoline of a binding library) has none. 0; -E2BIG: bounds left tables
 * out, which of a level are the largest (at most 65,536 table slots a call, 65,536 names in all),
 * the rest is there; -ENOMEM; -ENOTSUP: unknown minor version; -EFAULT, -EINVAL or -ESRCH: the
 * registry could not be read.
 */
int c_functions_puc__read(struct c_functions_puc *functions, const struct target_memory *memory,
			  const struct ls_puc_layout *layout, uint64_t state);

/*
 * "print", "string.format", "FILE*:read", "FILE*.__gc": the target's bytes, cut at 127, not
 * escaped. `function` is the address of a C function or of a prototype. NULL where unknown. Valid
 * until the next call of c_functions_puc__read() or __free().
 */
const char *c_functions_puc__name(const struct c_functions_puc *functions, uint64_t function);

/* Whether the program or a module gave that name: no script that merely kept the function. */
bool c_functions_puc__is_given(const struct c_functions_puc *functions, uint64_t function);

#endif
