/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf_image.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burning.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define PAGE 4096

static void start(struct elf_image *image, const char *path)
{
	memset(image, 0, sizeof(*image));
	unlink(path);
	image->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (image->fd < 0)
		give_up(path);
	image->names_size = 1;
	image->header.e_shnum = 1;
	image->header.e_shentsize = sizeof(Elf64_Shdr);
}

void elf_image__create(struct elf_image *image, const char *path)
{
	start(image, path);
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_type = ET_DYN;
	image->header.e_machine = MACHINE;
	image->header.e_version = EV_CURRENT;
	image->header.e_ehsize = sizeof(Elf64_Ehdr);
	image->header.e_phoff = sizeof(Elf64_Ehdr);
	image->header.e_phentsize = sizeof(Elf64_Phdr);
	image->end = ELF_IMAGE_DATA;
}

void elf_image__extend(struct elf_image *image, const char *path, const char *original)
{
	char piece[1 << 16];
	int from = open(original, O_RDONLY | O_CLOEXEC);
	ssize_t count;

	if (from < 0)
		give_up(original);
	start(image, path);
	while ((count = read(from, piece, sizeof(piece))) > 0)
		elf_image__write(image, elf_image__place(image, (uint64_t)count), piece,
				 (uint64_t)count);
	if (pread(from, &image->header, sizeof(image->header), 0) != sizeof(image->header))
		give_up(original);
	close(from);
	image->header.e_shoff = 0;
	image->header.e_shnum = 1;
}

uint64_t elf_image__place(struct elf_image *image, uint64_t size)
{
	uint64_t offset = image->end;

	image->end += size;
	return offset;
}

void elf_image__write(struct elf_image *image, uint64_t offset, const void *bytes, uint64_t size)
{
	while (size) {
		ssize_t count = pwrite(image->fd, bytes, size, (off_t)offset);

		if (count <= 0)
			give_up("write");
		bytes = (const char *)bytes + count;
		offset += (uint64_t)count;
		size -= (uint64_t)count;
	}
}

void elf_image__add_segment(struct elf_image *image, uint32_t flags, uint64_t offset, uint64_t size)
{
	if (image->header.e_phnum == ELF_IMAGE_SEGMENTS)
		give_up("segments");
	image->segments[image->header.e_phnum++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = offset,
		.p_paddr = offset,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = PAGE,
	};
}

uint32_t elf_image__add_section(struct elf_image *image, const char *name, uint32_t type,
				uint64_t flags, uint64_t offset, uint64_t size)
{
	uint32_t index = image->header.e_shnum++;

	if (index == ELF_IMAGE_SECTIONS || image->names_size + strlen(name) >= sizeof(image->names))
		give_up("sections");
	image->sections[index] = (Elf64_Shdr){
		.sh_name = (uint32_t)image->names_size,
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = offset,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 1,
		.sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0,
	};
	strcpy(image->names + image->names_size, name);
	image->names_size += strlen(name) + 1;
	return index;
}

static void finish_sections(struct elf_image *image)
{
	uint64_t offset = elf_image__place(image, sizeof(image->names));

	image->header.e_shstrndx = (uint16_t)elf_image__add_section(
		image, ".shstrtab", SHT_STRTAB, 0, offset, sizeof(image->names));
	elf_image__write(image, offset, image->names, sizeof(image->names));
	elf_image__place(image, -image->end % sizeof(uint64_t));
	image->header.e_shoff = elf_image__place(image, sizeof(image->sections));
	elf_image__write(image, image->header.e_shoff, image->sections, sizeof(image->sections));
	/* The first section header may hold the number instead: elf(5). */
	if (image->sections[0].sh_size)
		image->header.e_shnum = 0;
}

void elf_image__finish(struct elf_image *image)
{
	if (!image->header.e_shoff)
		finish_sections(image);
	if (image->segments[0].p_type == PT_LOAD)
		elf_image__write(image, image->header.e_phoff, image->segments,
				 image->header.e_phnum * sizeof(Elf64_Phdr));
	elf_image__write(image, 0, &image->header, sizeof(image->header));
	/* A hole at the end is part of the file, too. */
	if (ftruncate(image->fd, (off_t)image->end) || close(image->fd))
		give_up("close");
}

void elf_image__write_markers(struct elf_image *image, uint64_t offset)
{
	/* user/puc/family_puc.c */
	static const char markers[] =
		"__newindex\0$LuaVersion: Lua 5.4.4  Copyright (C) $\0"
		"break outside loop at line %d\0integer format mismatch\0invalid option '>'";

	_Static_assert(sizeof(markers) <= ELF_IMAGE_MARKERS, "room for them");
	elf_image__write(image, offset, markers, sizeof(markers));
}
