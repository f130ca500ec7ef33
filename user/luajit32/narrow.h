/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LuaJIT with references of 32 bits: the files of user/luajit/ compiled a second time, for structs
 * of that size (offsets_luajit.h), under names of their own. The folder has nothing else but its
 * table of layouts.
 */
#ifndef LS_NARROW_H
#define LS_NARROW_H

#define LS_NARROW

#define call_site_luajit__read   call_site_luajit32__read
#define family_luajit            family_luajit32
#define layout_luajit__find      layout_luajit32__find
#define layouts_luajit           layouts_luajit32
#define layouts_luajit_count     layouts_luajit32_count
#define main_thread_luajit__find main_thread_luajit32__find
#define prototype_luajit__check  prototype_luajit32__check
#define prototype_luajit__covers prototype_luajit32__covers
#define prototype_luajit__lines  prototype_luajit32__lines
#define prototype_luajit__read   prototype_luajit32__read
#define prototype_luajit__source prototype_luajit32__source
#define prototype_luajit__string prototype_luajit32__string
#define table_ops_luajit         table_ops_luajit32
#define walker_ops_luajit        walker_ops_luajit32

#endif
