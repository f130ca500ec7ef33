/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells the garbage collector of PUC Lua to gc_finder.h. */
#ifndef LS_GC_PUC_H
#define LS_GC_PUC_H

#include <stdint.h>

#include "elf/elf_file.h"
#include "gc/gc_code.h"

/*
 * `layouts` has a bit per entry of layouts_puc[] that the file's Lua may have. Returns 0, whether
 * or not the code was found, or -ENOMEM.
 */
int gc_puc__find(const struct elf_file *file, uint16_t layouts, struct gc_code *gc);

#endif
