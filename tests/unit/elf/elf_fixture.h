/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A whole ELF file in memory, small enough to corrupt each of its bytes in turn. */
#ifndef TEST_ELF_FIXTURE_H
#define TEST_ELF_FIXTURE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define TEXT_ADDRESS 0x401000
#define SYMBOLS      16
#define NAMES                                                                                      \
	"\0outer\0inner\0no_size\0__alias\0alias\0alias_too\0weak\0local\0versioned@@LUA_5.4\0"    \
	"resolver\0missing\0last\0"

enum { NONE, RODATA, TEXT, DATA, SYMTAB, STRTAB, SECTIONS };

struct elf_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[5];
	char rodata[32], text[32], data[32], names[sizeof(NAMES)];
	Elf64_Dyn dynamic[2];
	Elf64_Sym symbols[SYMBOLS];
	Elf64_Shdr sections[SECTIONS];
};

struct elf_fixture {
	int fd;
	char path[32]; /* of `fd`, which is in memory: some tests write thousands of files */
	struct elf_image image;
	size_t symbols;
	struct elf_file *file;
};

/* For a test, whose state is the fixture. */
int elf_fixture__set_up(void **state);
int elf_fixture__tear_down(void **state);

#define with_elf(test)                                                                             \
	cmocka_unit_test_setup_teardown(test, elf_fixture__set_up, elf_fixture__tear_down)

/* A function at that place in the code; its name is one of NAMES. */
Elf64_Sym *elf_fixture__add_symbol(struct elf_fixture *fixture, const char *name, uint64_t offset,
				   uint64_t size, int binding);

/* Writes the file, closes the one that was open and opens this one. 0 or a negative errno. */
int elf_fixture__open_bytes(struct elf_fixture *fixture, const void *bytes, size_t size);
int elf_fixture__open_image(struct elf_fixture *fixture);

/* The function at that place of the code, or "(none)". */
const char *elf_fixture__function_at(struct elf_fixture *fixture, uint64_t offset);

#endif
