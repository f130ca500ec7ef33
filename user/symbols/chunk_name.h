/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lua's chunk names, as people read them. */
#ifndef LS_CHUNK_NAME_H
#define LS_CHUNK_NAME_H

#include <stddef.h>

/* Long enough for every file name that BPF sends and for `[string "..."]`. */
#define CHUNK_NAME_SIZE 544

/*
 * "@dir/app.lua" is a file, "=stdin" a name, and anything else the chunk's own source, whose first
 * line is shown as `[string "return 1..."]` (lobject.c, luaO_chunkid; LUA_IDSIZE is 60). Reads
 * `length` bytes of `chunk`; *to is NUL-terminated.
 */
void chunk_name__show(const char *chunk, size_t length, char to[CHUNK_NAME_SIZE]);

#endif
