/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of machine code in a process: the symbol or, if there is none, the location. */
#ifndef LS_NATIVE_NAMES_H
#define LS_NATIVE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/elf_files.h"

struct native_names;

/*
 * NULL when out of memory. `files` is borrowed. Free with native_names__free(), which takes NULL.
 */
struct native_names *native_names__new(pid_t pid, struct elf_files *files);
void native_names__free(struct native_names *names);

/* Opens what is mapped now, so that its code still has names when the process has ended. */
void native_names__prepare(struct native_names *names);

/*
 * Locates code by the identity of its file (elf_files__identity()) and its position in it, which
 * are the same in every process that has mapped the file. False: no file is mapped there, and
 * *place is `address`.
 */
bool native_names__place(struct native_names *names, uint64_t address, uint64_t *file,
			 uint64_t *place);

/*
 * The name of the mapped file, without its folders; NULL: no file is mapped there. Valid until the
 * next call.
 */
const char *native_names__file(struct native_names *names, uint64_t address);

/*
 * "luaopen_lpeg", "lpeg.so+0x3f20", or "0x7f0012345678" if no file is mapped there. NULL when out
 * of memory. Valid until the next call.
 */
const char *native_names__name(struct native_names *names, uint64_t address);

/*
 * The symbol alone, as the author of the program wrote it (symbol_name__demangle()); NULL: none.
 * Valid until the next call.
 */
const char *native_names__symbol(struct native_names *names, uint64_t address);

#endif
