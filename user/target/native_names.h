/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of machine code in a process: by the symbols of its files, else by place. */
#ifndef LS_NATIVE_NAMES_H
#define LS_NATIVE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf_files.h"

struct native_names;

/* NULL when out of memory. `files` is borrowed. Free with native_names__free(), which takes NULL.
 */
struct native_names *native_names__new(pid_t pid, struct elf_files *files);
void native_names__free(struct native_names *names);

/* Sees to it that what is mapped by now has names when the process has ended. */
void native_names__prepare(struct native_names *names);

/*
 * Where that code lies: the identity of its file (elf_files__identity()) and the place in it, the
 * same in every process that has mapped the file. False where none is mapped: *place is `address`.
 */
bool native_names__place(struct native_names *names, uint64_t address, uint64_t *file,
			 uint64_t *place);

/*
 * "luaopen_lpeg", "lpeg.so+0x3f20", or "0x7f0012345678" where no file is mapped. NULL when out of
 * memory. Valid until the next call.
 */
const char *native_names__name(struct native_names *names, uint64_t address);

/* The symbol alone; NULL: none. Valid until the next call. */
const char *native_names__symbol(struct native_names *names, uint64_t address);

#endif
