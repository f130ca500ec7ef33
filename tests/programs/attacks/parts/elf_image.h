/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file for this machine, written piece by piece: what is not written is a hole. Failures end
 * the program. The file begins with its header and the program headers; data may be placed from
 * ELF_IMAGE_DATA on.
 */
#ifndef ATTACKS_ELF_IMAGE_H
#define ATTACKS_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_IMAGE_SEGMENTS 8
#define ELF_IMAGE_SECTIONS 8
#define ELF_IMAGE_DATA     4096

struct elf_image {
	int fd;
	uint64_t end; /* of what was placed so far */
	Elf64_Ehdr header;
	Elf64_Phdr segments[ELF_IMAGE_SEGMENTS];
	Elf64_Shdr sections[ELF_IMAGE_SECTIONS]; /* the first is the empty one */
	char names[256];
	size_t names_size;
};

void elf_image__create(struct elf_image *image, const char *path);

/* The same, based on a copy of the file `original`, whose header and segments are kept. */
void elf_image__extend(struct elf_image *image, const char *path, const char *original);

/* Reserves `size` bytes after everything else. Returns their offset. */
uint64_t elf_image__place(struct elf_image *image, uint64_t size);

void elf_image__write(struct elf_image *image, uint64_t offset, const void *bytes, uint64_t size);

/* Adds a PT_LOAD that maps the file's bytes from `offset` on at that same address. */
void elf_image__add_segment(struct elf_image *image, uint32_t flags, uint64_t offset,
			    uint64_t size);

/* Returns its index. The address of a section in memory is its offset in the file. */
uint32_t elf_image__add_section(struct elf_image *image, const char *name, uint32_t type,
				uint64_t flags, uint64_t offset, uint64_t size);

/*
 * Places the sections' names and headers, unless the file's header refers to others already, writes
 * the other headers and closes the file.
 */
void elf_image__finish(struct elf_image *image);

/* Writes what luaspy recognizes Lua 5.4 by at that offset: at most ELF_IMAGE_MARKERS bytes. */
#define ELF_IMAGE_MARKERS 512
void elf_image__write_markers(struct elf_image *image, uint64_t offset);

#endif
