/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Describes Luau's garbage collector to gc_finder.h. */
#ifndef LS_GC_LUAU_H
#define LS_GC_LUAU_H

#include "elf/elf_file.h"
#include "gc/gc_code.h"

/* Returns 0, whether or not the code was found, or -ENOMEM. */
int gc_luau__find(const struct elf_file *file, struct gc_code *gc);

#endif
