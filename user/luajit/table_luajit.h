/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables, strings and functions in the memory of a VM of LuaJIT. */
#ifndef LS_TABLE_LUAJIT_H
#define LS_TABLE_LUAJIT_H

#include "symbols/vm_tables.h"

extern const struct table_ops table_ops_luajit;

#endif
