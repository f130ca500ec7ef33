/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbols of an ELF file. Nothing in the file is trusted (see elf_file.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_file_internal.h"

#define NAMES_LIMIT   (64ull << 20) /* bytes of each symbol table and of each string table */
#define SYMBOL_LIMIT  (1u << 21)    /* Chromium has about a million */
#define NAME_LIMIT    4095          /* bytes; more than anyone reads of a name */
#define COMPARE_LIMIT 256           /* millions of long aliases must not take forever to sort */
#define OVERLAP_LIMIT 32            /* how many symbols may begin inside another one */

void elf_symbols__free(struct elf_file *file)
{
	for (size_t i = 0; i < file->symbol_count; i++)
		free(file->symbols[i].copy);
	free(file->symbols);
}

/*
 * The first among aliases is the one that a programmer would have written: exported, without the
 * underscores of an implementation, short. The order is always the same.
 */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? 1 : -1;
	if (a->is_weak != b->is_weak)
		return a->is_weak ? 1 : -1;
	if (a->underscores != b->underscores)
		return a->underscores < b->underscores ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return strncmp(a->name, b->name, a->length < COMPARE_LIMIT ? a->length : COMPARE_LIMIT);
}

/* The end of the section that a symbol is in; UINT64_MAX: unknown. */
static uint64_t section_end(const struct elf_file *file, size_t index)
{
	Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(file->elf, index) : NULL;
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) ||
	    header.sh_addr + header.sh_size < header.sh_addr)
		return UINT64_MAX;
	return header.sh_addr + header.sh_size;
}

/* False: the symbol is not a defined function with a name, or is malformed. */
static bool read_symbol(const struct elf_file *file, const GElf_Sym *from, const Elf_Data *strings,
			struct symbol *to)
{
	int type = GELF_ST_TYPE(from->st_info), binding = GELF_ST_BIND(from->st_info);
	const char *at;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || from->st_shndx == SHN_UNDEF ||
	    from->st_name >= strings->d_size)
		return false;
	*to = (struct symbol){
		.start = from->st_value,
		.name = (const char *)strings->d_buf + from->st_name,
		.is_weak = binding == STB_WEAK,
		.is_local = binding == STB_LOCAL,
	};
	to->length = (uint32_t)strnlen(to->name, NAME_LIMIT);
	/* "memcpy@@GLIBC_2.14": the linker's way to write a version into .symtab */
	at = memchr(to->name, '@', to->length);
	if (at)
		to->length = (uint32_t)(at - to->name);
	if (to->length == 0)
		return false;
	while (to->underscores < 8 && to->name[to->underscores] == '_')
		to->underscores++;
	to->end = from->st_value + from->st_size;
	if (to->end < to->start)
		return false;
	if (!from->st_size)
		to->limit = section_end(file, from->st_shndx);
	return true;
}

/* NULL: there is none, or its size exceeds the file's or the limit. */
static Elf_Data *section_data(const struct elf_file *file, Elf_Scn *section)
{
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_size > file->size || header.sh_size > NAMES_LIMIT)
		return NULL;
	return elf_getdata(section, NULL);
}

static int read_symbol_table(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *entries = section_data(file, section);
	Elf_Data *strings = section_data(file, elf_getscn(file->elf, header->sh_link));
	size_t count;
	struct symbol *symbols;

	/* The NUL at the end of the table terminates every name in it. */
	if (!entries || !entries->d_buf || !strings || !strings->d_buf || !strings->d_size ||
	    ((const char *)strings->d_buf)[strings->d_size - 1] != '\0')
		return 0;
	count = entries->d_size / sizeof(Elf64_Sym);
	if (count > SYMBOL_LIMIT)
		count = SYMBOL_LIMIT;
	symbols = reallocarray(file->symbols, file->symbol_count + count + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	file->symbols = symbols;
	file->bytes += entries->d_size + strings->d_size + count * sizeof(*symbols);
	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(entries, (int)i, &symbol) &&
		    read_symbol(file, &symbol, strings, &symbols[file->symbol_count]))
			file->symbol_count++;
	}
	return 0;
}

/* Merges aliases into the first of them, which then covers what the longest does. */
static void merge_symbols(struct elf_file *file)
{
	struct symbol *symbols = file->symbols;
	size_t kept = 0;

	for (size_t i = 0; i < file->symbol_count; i++) {
		struct symbol *last = kept ? &symbols[kept - 1] : NULL;

		if (last && last->start == symbols[i].start) {
			if (symbols[i].end > last->end)
				last->end = symbols[i].end;
			continue;
		}
		if (last && last->end == last->start)
			last->end = last->limit < symbols[i].start ? last->limit : symbols[i].start;
		symbols[kept++] = symbols[i];
	}
	if (kept && symbols[kept - 1].end == symbols[kept - 1].start)
		symbols[kept - 1].end = symbols[kept - 1].limit;
	file->symbol_count = kept;
}

/* Symbols that cannot be read count as missing: the caller then shows an offset. */
static void read_symbols(struct elf_file *file)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(types) / sizeof(types[0]); i++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header;

		while ((section = elf_nextscn(file->elf, section)))
			if (gelf_getshdr(section, &header) && header.sh_type == types[i])
				break;
		if (section)
			error = read_symbol_table(file, section, &header);
	}
	if (file->symbol_count)
		qsort(file->symbols, file->symbol_count, sizeof(*file->symbols), compare_symbols);
	merge_symbols(file);
}

static const char *plain_name(struct symbol *symbol)
{
	if (symbol->name[symbol->length] == '\0')
		return symbol->name;
	if (!symbol->copy)
		symbol->copy = strndup(symbol->name, symbol->length);
	return symbol->copy;
}

const char *elf_file__function_at(struct elf_file *file, uint64_t address)
{
	size_t low = 0, high;

	if (!file->symbols_read)
		read_symbols(file);
	file->symbols_read = true;
	for (high = file->symbol_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (file->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < OVERLAP_LIMIT && low > 0; i++)
		if (file->symbols[--low].end > address)
			return plain_name(&file->symbols[low]);
	return NULL;
}
