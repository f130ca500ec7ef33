/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the garbage collector's code in a file that contains PUC Lua, without symbols: it may be
 * static, stripped, and inlined as the compiler saw fit. gc_puc.c describes the evidence. Code in
 * doubt counts as unknown: a wrong range would be worse than none.
 */
#ifndef LS_GC_PUC_H
#define LS_GC_PUC_H

#include <stdint.h>

#include "elf/elf_file.h"
#include "interpreter/gc_code.h"

/*
 * `layouts` has a bit per entry of layouts_puc[] that the file's Lua may have. Returns 0, whether
 * or not the code was found, or -ENOMEM.
 */
int gc_puc__find(const struct elf_file *file, uint16_t layouts, struct gc_code *gc);

#endif
