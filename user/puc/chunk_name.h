/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What Lua's chunk names look like to people. */
#ifndef LS_CHUNK_NAME_H
#define LS_CHUNK_NAME_H

#include <stddef.h>

/* Long enough for every file name that BPF sends and for `[string "..."]`. */
#define CHUNK_NAME_SIZE 544

/*
 * "@dir/app.lua" is a file, "=stdin" a name, anything else the chunk's own text, of which the
 * first line is shown as `[string "return 1..."]` (lobject.c, luaO_chunkid; LUA_IDSIZE is 60).
 * Takes `length` bytes; ends *to with NUL.
 */
void chunk_name__show(const char *chunk, size_t length, char to[CHUNK_NAME_SIZE]);

#endif
