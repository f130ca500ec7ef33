/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ELF files that processes have mapped, each opened once for all of them: many run the same
 * program, and of one that has just ended the file is still there.
 */
#ifndef LS_ELF_FILES_H
#define LS_ELF_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "elf_file.h"
#include "process.h"

struct elf_files;

/* NULL when out of memory. Free with elf_files__free(), which takes NULL. */
struct elf_files *elf_files__new(void);
void elf_files__free(struct elf_files *files);

/*
 * The file that process `pid` has mapped there; NULL: it is none, or it cannot be opened, which is
 * tried once for a process. Valid until the next call.
 */
struct elf_file *elf_files__mapped(struct elf_files *files, pid_t pid,
				   const struct process_mapping *mapping);

/*
 * A number for what that file is, the same for every process that has mapped it, however often it
 * is opened: of its build id, which copies of it in other containers have, too; else of the file on
 * its disk, its size and when it was written. Never 0. Of a file that cannot be opened it is
 * another one.
 */
uint64_t elf_files__identity(struct elf_files *files, pid_t pid,
			     const struct process_mapping *mapping);

/* Closes those that nobody has asked for since so long. */
void elf_files__close_idle(struct elf_files *files, uint64_t idle_ns);

#endif
