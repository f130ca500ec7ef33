/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walker of bpf/luajit/walk_luajit.bpf.h in user space: the same source, reading a process. */
#ifndef LS_WALKER_LUAJIT_H
#define LS_WALKER_LUAJIT_H

#include "interpreter/walker.h"

extern const struct walker_ops walker_ops_luajit;

#endif
