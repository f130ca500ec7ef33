/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fuzz_walk_luajit.c, with references of 32 bits. */
#include "luajit32/narrow.h"

#include "fuzz_walk_luajit.c"
