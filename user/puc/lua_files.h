/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which Lua a file holds: by its content, never by its name. What was read once is remembered by
 * the file's identity (device, inode, size, times of change), whatever path leads there.
 */
#ifndef LS_LUA_FILES_H
#define LS_LUA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector_puc.h"

#define LUA_FILE_SEGMENTS 4 /* of code: linkers make one */

struct lua_files;

/* Code, in the file and at the file's own addresses. */
struct lua_file_segment {
	uint64_t offset, address;
};

struct lua_file {
	const char *name; /* of another VM ("LuaJIT", "Luau"); NULL: PUC Lua, or none */
	int minor;        /* of PUC Lua; 0: none */
	char release[16]; /* "5.4.4", or "5.4" where the file does not tell */
	bool is_shared_library;
	bool is_stripped;
	uint16_t layouts; /* of PUC Lua: bit per entry of layouts_puc[] that may fit */
	struct collector_puc collector; /* likewise, at the file's own addresses */
	struct lua_file_segment segments[LUA_FILE_SEGMENTS];
	size_t segment_count;
};

/* NULL when out of memory. Free with lua_files__free(), which takes NULL. */
struct lua_files *lua_files__new(void);
void lua_files__free(struct lua_files *files);

/*
 * What the file holds, into *file: no Lua if it is no program or library. `found` is a descriptor
 * of it, which need not be readable (O_PATH); borrowed. 0; -ENOTSUP: its code is not for a 64-bit
 * process of this machine; -ENOMEM; other -errno. Of a file that could not be read nothing is
 * remembered.
 */
int lua_files__look(struct lua_files *files, int found, struct lua_file *file);

/* How many files were opened and read, for tests. */
unsigned int lua_files__read_count(const struct lua_files *files);

#endif
