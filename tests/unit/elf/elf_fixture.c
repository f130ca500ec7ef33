/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_fixture.h"

static uint32_t name_offset(const char *name)
{
	const char *names = NAMES;

	for (size_t i = 1; i < sizeof(NAMES) - 1; i += strlen(names + i) + 1)
		if (strcmp(names + i, name) == 0)
			return (uint32_t)i;
	fail_msg("'%s' is not in the string table", name);
	return 0;
}

Elf64_Sym *elf_fixture__add_symbol(struct elf_fixture *fixture, const char *name, uint64_t offset,
				   uint64_t size, int binding)
{
	Elf64_Sym *symbol = &fixture->image.symbols[++fixture->symbols];

	*symbol = (Elf64_Sym){.st_name = name_offset(name),
			      .st_info = ELF64_ST_INFO(binding, STT_FUNC),
			      .st_shndx = TEXT,
			      .st_value = TEXT_ADDRESS + offset,
			      .st_size = size};
	return symbol;
}

static void set_section(struct elf_image *image, int index, uint32_t type, uint64_t flags,
			const void *content, size_t size)
{
	uint64_t offset = (uint64_t)((const char *)content - (const char *)image);

	image->sections[index] = (Elf64_Shdr){.sh_type = type,
					      .sh_flags = flags,
					      .sh_addr = TEXT_ADDRESS,
					      .sh_offset = offset,
					      .sh_size = size,
					      .sh_addralign = 1};
}

static void set_segment(struct elf_image *image, int index, uint32_t flags, const char *content,
			uint64_t address)
{
	image->segments[index] = (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = flags,
					      .p_offset = (uint64_t)(content - (char *)image),
					      .p_vaddr = address,
					      .p_filesz = 32,
					      .p_memsz = 32};
}

static void make_sections(struct elf_image *image)
{
	set_section(image, RODATA, SHT_PROGBITS, SHF_ALLOC, image->rodata, 32);
	set_section(image, TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, image->text, 0x1000);
	set_section(image, DATA, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, image->data, 32);
	set_section(image, SYMTAB, SHT_SYMTAB, 0, image->symbols, sizeof(image->symbols));
	set_section(image, STRTAB, SHT_STRTAB, 0, image->names, sizeof(image->names));
	image->sections[SYMTAB].sh_link = STRTAB;
	image->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
}

int elf_fixture__set_up(void **state)
{
	struct elf_fixture *fixture = calloc(1, sizeof(*fixture));
	struct elf_image *image = &fixture->image;

	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct elf_image, segments),
		.e_shoff = offsetof(struct elf_image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 5,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
	};
	strcpy(image->rodata + 3, "in read-only data");
	strcpy(image->text, "in code");
	strcpy(image->data, "in data");
	memcpy(image->names, NAMES, sizeof(NAMES));
	set_segment(image, 0, PF_R, image->rodata, 0x400000);
	set_segment(image, 1, PF_R | PF_X, image->text, TEXT_ADDRESS);
	set_segment(image, 2, PF_R | PF_W, image->data, 0x403000);
	image->segments[3] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
					  .p_offset = offsetof(struct elf_image, dynamic),
					  .p_filesz = sizeof(image->dynamic)};
	image->dynamic[0].d_tag = DT_FLAGS_1;
	make_sections(image);
	fixture->fd = memfd_create("elf", MFD_CLOEXEC);
	snprintf(fixture->path, sizeof(fixture->path), "/proc/self/fd/%d", fixture->fd);
	*state = fixture;
	return fixture->fd < 0;
}

int elf_fixture__tear_down(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_file__close(fixture->file);
	close(fixture->fd);
	free(fixture);
	return 0;
}

int elf_fixture__open_bytes(struct elf_fixture *fixture, const void *bytes, size_t size)
{
	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(pwrite(fixture->fd, bytes, size, 0), size);
	elf_file__close(fixture->file);
	fixture->file = NULL;
	return elf_file__open(fixture->path, &fixture->file);
}

int elf_fixture__open_image(struct elf_fixture *fixture)
{
	return elf_fixture__open_bytes(fixture, &fixture->image, sizeof(fixture->image));
}

const char *elf_fixture__function_at(struct elf_fixture *fixture, uint64_t offset)
{
	const char *name = elf_file__function_at(fixture->file, TEXT_ADDRESS + offset);

	return name ? name : "(none)";
}
