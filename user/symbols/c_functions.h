/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads names of C functions from the tables of a VM: decides which tables, in which order. */
#ifndef LS_C_FUNCTIONS_H
#define LS_C_FUNCTIONS_H

#include <stdint.h>

#include "memory/target_memory.h"
#include "symbols/c_function_names.h"
#include "symbols/vm_tables.h"

/*
 * Reads the tables of the VM that `state` belongs to and adds the names in them; existing names
 * stay. Of several names of one function, package.loaded comes before libraries among the globals,
 * before other globals, before metatables, before the registry; then the shortest, then the first
 * in the alphabet; string.gfind and math.mod of Lua 5.1 come last. The metatables of tables that
 * have a name count for the script functions that operations call: "Account.__call". A function
 * that several closures share under different names (a binding library's trampoline) has none. 0;
 * -E2BIG: limits left out tables, the largest on their level (at most 65,536 table slots per call,
 * 65,536 names in total), and the rest was read; -ENOMEM; -ENOTSUP: tables of an unknown release;
 * -EFAULT, -EINVAL or -ESRCH: the registry could not be read.
 */
int c_functions__read(struct c_function_names *names, const struct table_ops *ops,
		      const struct target_memory *memory, const void *offsets, uint64_t state);

#endif
