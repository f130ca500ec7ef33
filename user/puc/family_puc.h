/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The operations of PUC Lua that are in files of their own. */
#ifndef LS_FAMILY_PUC_H
#define LS_FAMILY_PUC_H

#include "elf/elf_file.h"
#include "interpreter/lua_files.h"
#include "interpreter/walker.h"
#include "symbols/vm_tables.h"

/* Tables, strings and functions in the memory of a VM. */
extern const struct table_ops table_ops_puc;

/* The walker of bpf/ in user space: the same source, reading with process_vm_readv(). */
extern const struct walker_ops walker_ops_puc;

/*
 * Finds the standard functions of base, string, table, math, utf8 and bit32 in a file, stripped or
 * not: those that never run another lua_State than their caller's. Fills in their addresses, which
 * are the file's own. 0, whether or not there are any, or -ENOMEM.
 */
int library_puc__find(const struct elf_file *elf, struct c_library *library);

#endif
