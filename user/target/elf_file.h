/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One ELF file, opened for reading: what it is, the strings in it, its symbols. */
#ifndef LS_ELF_FILE_H
#define LS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The e_machine of what runs here. */
#if defined(__x86_64__)
#define ELF_FILE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_FILE_MACHINE EM_AARCH64
#else
#error "no ELF machine for this architecture"
#endif

struct elf_file;

/*
 * Opens `path`, whose content may be hostile. 0; -ENOEXEC: no ELF program or library (a device, a
 * FIFO and an object file neither); -ENOTSUP: not 64-bit little-endian, or for another machine;
 * other -errno. Close with elf_file__close(), which takes NULL.
 */
int elf_file__open(const char *path, struct elf_file **file);

/* The same, of a file for `machine` (e_machine: EM_X86_64, EM_AARCH64), which need not be ours. */
int elf_file__open_for(const char *path, uint16_t machine, struct elf_file **file);

/* The same of a file that was found already: `found` is borrowed, and need not be readable. */
int elf_file__open_again(int found, struct elf_file **file);
void elf_file__close(struct elf_file *file);

bool elf_file__is_stripped(const struct elf_file *file); /* no .symtab */
bool elf_file__is_shared_library(
	const struct elf_file *file); /* ET_DYN without an interpreter or DF_1_PIE */

/*
 * Whether `needle`, of at most 64 bytes, is in the file's read-only data, as elf_file__find() looks
 * at it; true too when out of memory. Nothing is kept: for what most files do not have.
 */
bool elf_file__holds(const struct elf_file *file, const char *needle);

/*
 * The first occurrence of `needle` in the file's read-only data (not symbols' names); NULL: none.
 * `*room` bytes are readable from there, not necessarily with a NUL among them. Valid until the
 * file is closed. Read-only data is read at the first call; up to 1 GiB of it is searched. Without
 * section headers it is every segment that is not writable.
 */
const char *elf_file__find(const struct elf_file *file, const char *needle, size_t *room);

/*
 * The function symbol (STT_FUNC, STT_GNU_IFUNC) of .symtab or .dynsym that covers the file's
 * virtual address `address` (not file offset); a symbol of size 0 covers up to the next one or the
 * end of its section. Of aliases: global before weak before local, then the fewest leading
 * underscores, the shortest, the first in the alphabet. Symbol versions ("@GLIBC_2.14") are cut
 * off, and names at 4,095 bytes; not escaped. NULL: none. Valid until close. The symbols are read
 * and sorted at the first call.
 */
const char *elf_file__function_at(struct elf_file *file, uint64_t address);

/* The virtual address that file offset `offset` is mapped at by the first PT_LOAD that holds it;
 * UINT64_MAX: none. */
uint64_t elf_file__address_of_offset(const struct elf_file *file, uint64_t offset);

/* A program header, of those that matter here. */
struct elf_segment {
	uint32_t type, flags;  /* PT_*, PF_* */
	uint64_t address;      /* the file's own */
	uint64_t offset, size; /* in the file */
};

/* The program header `index`, counted from 0. False: there are not so many. */
bool elf_file__segment(const struct elf_file *file, size_t index, struct elf_segment *segment);

/* Where the section of that name lies in memory; false: there is none. */
bool elf_file__section(const struct elf_file *file, const char *name, uint64_t *address,
		       uint64_t *size);

/* How many bytes the file's segments have from that address on, at most its own size. */
uint64_t elf_file__bytes_at(const struct elf_file *file, uint64_t address);

/* At most `size` bytes from that address of the file's own. The count, or -errno. */
ssize_t elf_file__read(const struct elf_file *file, uint64_t address, void *to, size_t size);

uint16_t elf_file__machine(const struct elf_file *file); /* e_machine */

#endif
