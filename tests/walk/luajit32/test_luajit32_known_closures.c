/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_luajit_known_closures.c of walk/luajit/, with references of 32 bits. */
#include "luajit32/narrow.h"

#include "../luajit/test_luajit_known_closures.c"
