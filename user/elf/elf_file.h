/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One ELF file, opened for reading: its type, its strings, its symbols. */
#ifndef LS_ELF_FILE_H
#define LS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The e_machine of programs for this machine. */
#if defined(__x86_64__)
#define ELF_FILE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_FILE_MACHINE EM_AARCH64
#else
#error "no ELF machine for this architecture"
#endif

struct elf_file;

/*
 * Opens `path`, whose content may be hostile. 0; -ENOEXEC: not an ELF program or library (nor are
 * devices, FIFOs and object files); -ENOTSUP: not 64-bit little-endian, or for another machine;
 * -EFBIG: it has more read-only data than luaspy searches; -EBUSY: somebody holds a lease on it;
 * other -errno. Close with elf_file__close(), which takes NULL.
 */
int elf_file__open(const char *path, struct elf_file **file);

/*
 * The same, but the file is for `machine` (e_machine: EM_X86_64, EM_AARCH64), maybe a foreign one.
 */
int elf_file__open_for(const char *path, uint16_t machine, struct elf_file **file);

/* The same for a file that is already open: `found` is borrowed, and may be unreadable (O_PATH). */
int elf_file__open_again(int found, struct elf_file **file);
void elf_file__close(struct elf_file *file);

bool elf_file__is_stripped(const struct elf_file *file); /* no .symtab */
bool elf_file__is_shared_library(
	const struct elf_file *file); /* ET_DYN without an interpreter or DF_1_PIE */

/* Memory that its symbols currently take, in bytes. */
uint64_t elf_file__bytes(const struct elf_file *file);

/* Whether it has no more data than elf_file__find() may read. */
bool elf_file__is_searchable(const struct elf_file *file);

/*
 * Whether `needle`, of at most 64 bytes, is in the data that elf_file__find() searches; also true
 * when out of memory. Keeps nothing in memory, for searches that fail in most files.
 */
bool elf_file__holds(const struct elf_file *file, const char *needle);

/*
 * The first occurrence of `needle` in the file's read-only data (not in symbol names), else in its
 * initialized writable data, up to 1 MiB of it; NULL: none. `*room` bytes are readable from there,
 * not necessarily with a NUL among them. Valid until the file is closed. The first call reads that
 * data, as much as there is memory for, so ask elf_file__is_searchable() first. Without section
 * headers, segments that are not writable count as read-only data.
 */
const char *elf_file__find(const struct elf_file *file, const char *needle, size_t *room);

/*
 * The function symbol (STT_FUNC, STT_GNU_IFUNC) of .symtab or .dynsym that covers the file's
 * virtual address `address` (not a file offset); a symbol of size 0 extends to the next one or to
 * the end of its section. Among aliases: global before weak before local, then the fewest leading
 * underscores, then the shortest, then the first in the alphabet. Symbol versions ("@GLIBC_2.14")
 * are cut off, and names at 4,095 bytes; names are not escaped. NULL: none. Valid until the file is
 * closed. The first call reads and sorts the symbols.
 */
const char *elf_file__function_at(struct elf_file *file, uint64_t address);

/*
 * The virtual address at which the first PT_LOAD that contains file offset `offset` maps it;
 * UINT64_MAX: none.
 */
uint64_t elf_file__address_of_offset(const struct elf_file *file, uint64_t offset);

/* The fields of a program header that matter here. */
struct elf_segment {
	uint32_t type, flags;  /* PT_*, PF_* */
	uint64_t address;      /* virtual address */
	uint64_t offset, size; /* in the file */
};

/* Reads program header `index`, counted from 0. False: there is none. */
bool elf_file__segment(const struct elf_file *file, size_t index, struct elf_segment *segment);

/* The virtual address and the size of the section `name`. False: there is none. */
bool elf_file__section(const struct elf_file *file, const char *name, uint64_t *address,
		       uint64_t *size);

/* How many bytes of the file follow from virtual address `address` in its segment. */
uint64_t elf_file__bytes_at(const struct elf_file *file, uint64_t address);

/* Reads at most `size` bytes from virtual address `address` on. Returns the count, or -errno. */
ssize_t elf_file__read(const struct elf_file *file, uint64_t address, void *to, size_t size);

uint16_t elf_file__machine(const struct elf_file *file); /* e_machine */

#endif
