/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF object of Luau's walker, bpf/luau/walk_luau.bpf.c. */
#ifndef LS_PROGRAM_LUAU_H
#define LS_PROGRAM_LUAU_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The ELF file and its size in bytes, for kernels before Linux 6.1 (bpf/repeat.bpf.h) or the
 * others. It is part of luaspy; the caller must not free it.
 */
const void *program_luau__file(bool is_old, size_t *size);

#endif
