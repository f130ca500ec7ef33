/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that takes a sample of LuaJIT with references of 32 bits: the same source. */
#define LS_NARROW
#include "luajit/walk_luajit.bpf.c"
