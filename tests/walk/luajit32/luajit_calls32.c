/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit32/narrow.h"

#include "../luajit/luajit_calls.c"
