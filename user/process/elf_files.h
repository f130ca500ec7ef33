/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ELF files that processes have mapped, each opened once for all of them: many processes run
 * the same program, and the file of a process that has just ended is still available.
 */
#ifndef LS_ELF_FILES_H
#define LS_ELF_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "elf/elf_file.h"
#include "process/process.h"

struct elf_files;

/* NULL when out of memory. Free with elf_files__free(), which takes NULL. */
struct elf_files *elf_files__new(void);
void elf_files__free(struct elf_files *files);

/*
 * The file that `mapping` of process `pid` maps; NULL: it is no ELF file, or it cannot be opened,
 * which is tried once per process. Valid until the next call.
 */
struct elf_file *elf_files__mapped(struct elf_files *files, pid_t pid,
				   const struct process_mapping *mapping);

/*
 * Identifies that file by a number that is the same for every process that has mapped it, and when
 * it is opened again. It depends on the build ID, which copies of the file in other containers
 * have, too; else on the file's device, inode, size and modification time; and on the device and
 * inode of the mapping alone if the file cannot be opened. Never 0.
 */
uint64_t elf_files__identity(struct elf_files *files, pid_t pid,
			     const struct process_mapping *mapping);

/* Closes the files that nobody has asked for in the last `idle_ns`. */
void elf_files__close_idle(struct elf_files *files, uint64_t idle_ns);

#endif
