/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to elf_file.c and elf_symbols.c. */
#ifndef LS_ELF_FILE_INTERNAL_H
#define LS_ELF_FILE_INTERNAL_H

#include <gelf.h>

#include "elf/elf_file.h"

struct region {
	uint64_t offset, size;
	char *bytes; /* NULL until it is first searched */
};

struct symbol {
	uint64_t start, end;
	uint64_t limit; /* of a symbol without a size (end == start): the end of its section */
	const char *name;
	char *copy; /* the name, NUL-terminated, if it was cut off; made on demand */
	uint32_t length;
	bool is_weak, is_local;
	uint8_t underscores;
};

struct elf_file {
	int fd;
	uint64_t size;
	Elf *elf;
	bool stripped, shared_library;
	struct region *regions; /* read-only data */
	size_t region_count;
	struct symbol *symbols; /* by address, one per address */
	size_t symbol_count;
	bool symbols_read;
	uint64_t bytes; /* of memory that its symbols take */
};

/* Frees the symbols, for elf_file__close(). */
void elf_symbols__free(struct elf_file *file);

#endif
