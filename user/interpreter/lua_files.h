/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells which VM a file contains, by its content, never by its name. Results are cached by the
 * file's identity (device, inode, size, mtime and ctime), whatever path leads to it.
 */
#ifndef LS_LUA_FILES_H
#define LS_LUA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/gc_code.h"

#define LUA_FILE_SEGMENTS 4 /* segments of code; linkers make one */

struct family;
struct lua_files;

/* A segment of code: where it is in the file, and at which of the file's own addresses. */
struct lua_file_segment {
	uint64_t offset, address;
};

#define C_LIBRARY_MAX (LS_LIBRARY_MAX / 2)

/* C functions of the VM's own library, by their addresses. */
struct c_library {
	uint64_t functions[C_LIBRARY_MAX]; /* that never run another state than their caller's */
	uint32_t count;
	struct ls_resumer resumer;
};

struct lua_file {
	const struct family *family; /* NULL: it holds no VM */
	char release[16];            /* "5.4.4", or "5.4" where the file does not tell */
	bool is_shared_library;
	bool is_stripped;
	uint16_t layouts;  /* of the family: bit per slot that may fit; 0 if it is not profiled */
	struct gc_code gc; /* at the file's own addresses, as is `library` */
	struct c_library library;
	struct lua_file_segment segments[LUA_FILE_SEGMENTS];
	size_t segment_count;
};

/* NULL when out of memory. Free with lua_files__free(), which takes NULL. */
struct lua_files *lua_files__new(void);
void lua_files__free(struct lua_files *files);

/*
 * Sets *file to what the file contains: no VM if it is no program or library. `found` is a borrowed
 * descriptor of it, which need not be readable (O_PATH). Returns 0; -ENOTSUP: its code is not for a
 * 64-bit process of this machine; -EFBIG: it is too large to be read; -EBUSY: a process holds a
 * lease on it; -ENOMEM; other -errno. Of the errors, only -ENOTSUP and -EFBIG are cached.
 */
int lua_files__find(struct lua_files *files, int found, struct lua_file *file);

/* How many files were opened and read, for tests. */
unsigned int lua_files__read_count(const struct lua_files *files);

#endif
