/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walker of bpf/luau/walk_luau.bpf.h in user space: the same source, reading a process. */
#ifndef LS_WALKER_LUAU_H
#define LS_WALKER_LUAU_H

#include "interpreter/walker.h"

extern const struct walker_ops walker_ops_luau;

#endif
