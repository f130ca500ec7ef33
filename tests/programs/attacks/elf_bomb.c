/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_bomb KIND PATH [MODULE]: writes an ELF file that is expensive to read. MODULE is a library
 * that programs can load: some kinds are a copy of it whose symbols are expensive.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/elf_image.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

/* Adds all that luaspy takes for constants, with a Lua's strings at their end if `has_markers`. */
static void add_constants(struct elf_image *image, uint64_t size, int has_markers)
{
	uint64_t offset = elf_image__place(image, size);

	elf_image__add_section(image, ".rodata", SHT_PROGBITS, SHF_ALLOC, offset, size);
	if (has_markers)
		elf_image__write_markers(image, offset + size - ELF_IMAGE_MARKERS);
}

/* ---- unwind tables: Linux Standard Base, "Exception Frames" */

#define CIE_SIZE (2 * MIB)
#define FDES     80000

struct __attribute__((packed)) cie {
	uint32_t length, id;
	uint8_t version;
	char augmentation[1]; /* none: addresses are absolute */
	uint8_t code_unit, data_unit, return_column;
};

struct __attribute__((packed)) fde {
	uint32_t length, back;
	uint64_t start, size;
};

/* A CIE that is filled up with NOPs. */
static const struct {
	struct cie cie;
	char rest[19];
} plain_cie = {.cie = {.length = 28, .version = 1, .code_unit = 1}};

_Static_assert(sizeof(plain_cie) == 32, "length and what it counts");

/* FDEs at `at`, for functions that follow each other and use two CIEs alternately, or one twice. */
struct table {
	uint64_t cies[2];
	uint64_t at;
	uint64_t code, size; /* of the first function; of each */
	size_t count;
};

static void write_fdes(struct elf_image *image, const struct table *table)
{
	struct fde *fdes = calloc(table->count + 1, sizeof(*fdes)); /* the last: a terminator */

	if (!fdes)
		give_up("calloc");
	for (size_t i = 0; i < table->count; i++) {
		uint64_t back = table->at + i * sizeof(*fdes) + sizeof(fdes->length);

		fdes[i] = (struct fde){
			.length = sizeof(*fdes) - sizeof(fdes->length),
			.back = (uint32_t)(back - table->cies[i % 2]),
			.start = table->code + i * table->size,
			.size = table->size,
		};
	}
	elf_image__write(image, table->at, fdes, (table->count + 1) * sizeof(*fdes));
	free(fdes);
}

/* One CIE with two million instructions, which apply to each of the functions. */
static void make_frames(struct elf_image *image)
{
	uint64_t size = CIE_SIZE + (FDES + 1) * sizeof(struct fde), code, at;
	struct cie cie = {.length = CIE_SIZE - sizeof(cie.length), .version = 1, .code_unit = 1};

	add_constants(image, ELF_IMAGE_MARKERS, 1);
	code = elf_image__place(image, 4096);
	at = elf_image__place(image, size);
	elf_image__write(image, at, &cie, sizeof(cie));
	write_fdes(image, &(struct table){{at, at}, at + CIE_SIZE, code, 16, FDES});
	elf_image__add_section(image, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, at, size);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
}

/*
 * Two CIEs with a million letters of augmentation each, which the functions use alternately, so
 * that they are read again for each function.
 */
#define LETTERS (1u << 20)

static void make_letters(struct elf_image *image)
{
	static char letters[LETTERS];
	struct cie cie = {.length = LETTERS - sizeof(cie.length), .version = 1};
	uint64_t size = 2 * LETTERS + (FDES + 1) * sizeof(struct fde), code, at;

	add_constants(image, ELF_IMAGE_MARKERS, 1);
	code = elf_image__place(image, 4096);
	at = elf_image__place(image, size);
	memset(letters, 'x', LETTERS - 64);
	memcpy(letters, &cie, offsetof(struct cie, augmentation));
	letters[offsetof(struct cie, augmentation)] = 'z';
	elf_image__write(image, at, letters, LETTERS);
	elf_image__write(image, at + LETTERS, letters, LETTERS);
	write_fdes(image, &(struct table){{at, at + LETTERS}, at + 2 * LETTERS, code, 16, FDES});
	elf_image__add_section(image, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, at, size);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
}

/* ---- code that is searched for the garbage collector: user/gc/gc_finder.c */

#define EXECUTORS 200 /* decode instructions, and call all functions of the other kinds */
#define PLAIN     4000
#define STEPS     200 /* write the GC's phase, and call all plain ones and the next step */
#define FUNCTIONS (EXECUTORS + PLAIN + STEPS)
#define ROOM      32768 /* for the code of each: a call takes 5 bytes */

static size_t put_call(uint8_t *code, size_t at, uint64_t here, uint64_t target)
{
	int32_t distance = (int32_t)(target - (here + 5));

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
	return at + 5;
}

/* The code of a function, padded with NOPs. */
static void fill_function(uint8_t *code, uint64_t base, size_t function)
{
	static const uint8_t shifts[] = {0xc1, 0xe8, 24, 0xc1, 0xe8, 16};
	uint8_t store[] = {0xc6, 0x47, 101, (uint8_t)(function % 8)};
	size_t at = 0, end = EXECUTORS + PLAIN;

	memset(code, 0x90, ROOM);
	if (function < EXECUTORS) {
		for (int i = 0; i < 8; i++, at += sizeof(shifts))
			memcpy(code + at, shifts, sizeof(shifts));
		end = FUNCTIONS;
	} else {
		memcpy(code, store, sizeof(store));
		at = sizeof(store);
		at = put_call(code, at, base + function * ROOM + at,
			      base + (function + 1 < FUNCTIONS ? function + 1 : end) * ROOM);
	}
	for (size_t i = EXECUTORS; i < end; i++)
		at = put_call(code, at, base + function * ROOM + at, base + i * ROOM);
}

/* Functions of which hundreds look like the executor, and hundreds like the GC's entry. */
static void make_calls(struct elf_image *image)
{
	uint64_t size = sizeof(plain_cie) + (FUNCTIONS + 1) * sizeof(struct fde), code, at;
	uint8_t function[ROOM];

	add_constants(image, ELF_IMAGE_MARKERS, 1);
	at = elf_image__place(image, size);
	code = elf_image__place(image, (uint64_t)FUNCTIONS * ROOM);
	elf_image__write(image, at, &plain_cie, sizeof(plain_cie));
	write_fdes(image, &(struct table){{at, at}, at + sizeof(plain_cie), code, ROOM, FUNCTIONS});
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (i >= EXECUTORS && i < EXECUTORS + PLAIN)
			continue;
		fill_function(function, code, i);
		elf_image__write(image, code + i * ROOM, function, sizeof(function));
	}
	elf_image__add_section(image, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, at, size);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
}

/* ---- sizes */

/* A sparse gigabyte, 12 KiB of it on disk: with a Lua's strings at its end, and without. */
static void make_sparse(struct elf_image *image)
{
	add_constants(image, GIB - MIB, 1);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
}

static void make_plain(struct elf_image *image)
{
	add_constants(image, GIB - MIB, 0);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
}

static void make_big(struct elf_image *image)
{
	add_constants(image, 50 * MIB, 0);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
}

/* Sixty thousand sections, every other one covering all of the file. */
#define MANY_SECTIONS 60000

static void make_overlap(struct elf_image *image)
{
	Elf64_Shdr *sections = calloc(MANY_SECTIONS, sizeof(*sections));
	uint64_t offset = elf_image__place(image, 64 * MIB), headers;

	if (!sections)
		give_up("calloc");
	elf_image__write_markers(image, offset + 64 * MIB - ELF_IMAGE_MARKERS);
	for (size_t i = 1; i < MANY_SECTIONS; i++)
		sections[i] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					   .sh_flags = SHF_ALLOC,
					   .sh_offset = i,
					   .sh_size = i % 2 ? 64 * MIB : 4096};
	headers = elf_image__place(image, MANY_SECTIONS * sizeof(*sections));
	elf_image__write(image, headers, sections, MANY_SECTIONS * sizeof(*sections));
	free(sections);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
	image->header.e_shoff = headers;
	image->header.e_shnum = MANY_SECTIONS;
	image->header.e_shstrndx = 0;
}

/* ---- counts */

#define MANY_SEGMENTS 65000

/*
 * Each segment of code is searched for among all of them; the last one is that of the unwind table.
 */
static void make_segments(struct elf_image *image)
{
	Elf64_Phdr *segments = calloc(MANY_SEGMENTS, sizeof(*segments));
	uint64_t size = sizeof(plain_cie) + 2 * sizeof(struct fde), at, code;

	if (!segments)
		give_up("calloc");
	add_constants(image, ELF_IMAGE_MARKERS, 1);
	code = elf_image__place(image, MANY_SEGMENTS * 16);
	at = elf_image__place(image, size);
	elf_image__write(image, at, &plain_cie, sizeof(plain_cie));
	write_fdes(image, &(struct table){{at, at}, at + sizeof(plain_cie), code, 16, 1});
	elf_image__add_section(image, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, at, size);
	for (size_t i = 0; i < MANY_SEGMENTS; i++)
		segments[i] = (Elf64_Phdr){.p_type = PT_LOAD,
					   .p_flags = PF_R | PF_X,
					   .p_offset = code + i * 16,
					   .p_vaddr = code + i * 16,
					   .p_filesz = 16,
					   .p_memsz = 16};
	segments[MANY_SEGMENTS - 1].p_offset = segments[MANY_SEGMENTS - 1].p_vaddr = at;
	segments[MANY_SEGMENTS - 1].p_filesz = size;
	image->header.e_phoff = elf_image__place(image, MANY_SEGMENTS * sizeof(*segments));
	elf_image__write(image, image->header.e_phoff, segments, MANY_SEGMENTS * sizeof(*segments));
	free(segments);
	image->header.e_phnum = MANY_SEGMENTS;
}

/* The number of segments is in the first section header (PN_XNUM, elf(5)): four billion. */
static void make_phnum(struct elf_image *image)
{
	add_constants(image, ELF_IMAGE_MARKERS, 1);
	image->header.e_phnum = PN_XNUM;
	image->sections[0].sh_info = UINT32_MAX;
}

/* The number of sections is there as well. */
static void make_shnum(struct elf_image *image)
{
	add_constants(image, ELF_IMAGE_MARKERS, 1);
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
	image->sections[0].sh_size = 65536;
}

/* Sections whose names are not terminated within the file. */
static void make_names(struct elf_image *image)
{
	uint64_t size = 64 * MIB, names, headers;
	Elf64_Shdr *sections = calloc(MANY_SECTIONS, sizeof(*sections));
	char *letters = malloc(size);

	if (!sections || !letters)
		give_up("malloc");
	names = elf_image__place(image, size);
	memset(letters, 'x', size);
	elf_image__write(image, names, letters, size);
	elf_image__write_markers(image, names);
	for (size_t i = 1; i < MANY_SECTIONS; i++)
		sections[i] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					   .sh_name = (uint32_t)(1024 + i),
					   .sh_flags = i == 2 ? SHF_ALLOC : 0,
					   .sh_offset = names,
					   .sh_size = ELF_IMAGE_MARKERS};
	sections[1].sh_type = SHT_STRTAB;
	sections[1].sh_size = size;
	headers = elf_image__place(image, MANY_SECTIONS * sizeof(*sections));
	elf_image__write(image, headers, sections, MANY_SECTIONS * sizeof(*sections));
	elf_image__add_segment(image, PF_R | PF_X, 0, image->end);
	free(sections);
	free(letters);
	image->header.e_shoff = headers;
	image->header.e_shnum = MANY_SECTIONS;
	image->header.e_shstrndx = 1;
}

/* ---- symbols of a library that can be loaded */

/* A gigabyte of names. */
static void make_strtab(struct elf_image *image)
{
	Elf64_Sym symbol = {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1};
	uint64_t symbols = elf_image__place(image, sizeof(symbol));
	uint64_t names = elf_image__place(image, GIB - MIB);
	uint32_t table;

	elf_image__write(image, symbols, &symbol, sizeof(symbol));
	table = elf_image__add_section(image, ".symtab", SHT_SYMTAB, 0, symbols, sizeof(symbol));
	image->sections[table].sh_link =
		elf_image__add_section(image, ".strtab", SHT_STRTAB, 0, names, GIB - MIB);
}

/*
 * Two million symbols of one address. Their names are as long as luaspy reads them and differ only
 * late.
 */
#define SYMBOLS   (1u << 21)
#define NAME_SIZE 4096
#define DIFFERENT 250

static void make_symbols(struct elf_image *image)
{
	uint64_t size = SYMBOLS * sizeof(Elf64_Sym);
	Elf64_Sym *symbols = calloc(SYMBOLS, sizeof(*symbols));
	uint64_t at = elf_image__place(image, size), names;
	char letters[2 * NAME_SIZE];
	uint32_t table;

	if (!symbols)
		give_up("calloc");
	for (uint32_t i = 0; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){.st_name = 1 + (i * 2654435761u >> 31) * NAME_SIZE,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					 .st_shndx = 1,
					 .st_value = 4096,
					 .st_size = 4096};
	elf_image__write(image, at, symbols, size);
	free(symbols);
	memset(letters, 'x', sizeof(letters));
	letters[NAME_SIZE + DIFFERENT] = 'y';
	letters[0] = letters[NAME_SIZE] = letters[sizeof(letters) - 1] = '\0';
	names = elf_image__place(image, sizeof(letters));
	elf_image__write(image, names, letters, sizeof(letters));
	table = elf_image__add_section(image, ".symtab", SHT_SYMTAB, 0, at, size);
	image->sections[table].sh_link =
		elf_image__add_section(image, ".strtab", SHT_STRTAB, 0, names, sizeof(letters));
}

/* A name that GCC 12's demangler does not return from. */
static void make_mangled(struct elf_image *image)
{
	static const char names[] = "\0_Z1fILi6EOAsrU";
	const Elf64_Sym symbol = {.st_name = 1,
				  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				  .st_shndx = 1,
				  .st_value = 4096,
				  .st_size = 4096};
	uint64_t at = elf_image__place(image, sizeof(symbol));
	uint64_t names_at = elf_image__place(image, sizeof(names));
	uint32_t table;

	elf_image__write(image, at, &symbol, sizeof(symbol));
	elf_image__write(image, names_at, names, sizeof(names));
	table = elf_image__add_section(image, ".symtab", SHT_SYMTAB, 0, at, sizeof(symbol));
	image->sections[table].sh_link =
		elf_image__add_section(image, ".strtab", SHT_STRTAB, 0, names_at, sizeof(names));
}

static const struct kind {
	const char *name;
	void (*make)(struct elf_image *image);
	int is_module;
} kinds[] = {
	{"frames", make_frames, 0},   {"letters", make_letters, 0},   {"calls", make_calls, 0},
	{"sparse", make_sparse, 0},   {"plain", make_plain, 0},       {"big", make_big, 0},
	{"overlap", make_overlap, 0}, {"segments", make_segments, 0}, {"phnum", make_phnum, 0},
	{"shnum", make_shnum, 0},     {"names", make_names, 0},       {"strtab", make_strtab, 1},
	{"symbols", make_symbols, 1}, {"mangled", make_mangled, 1},
};

int main(int argc, char **argv)
{
	struct elf_image image;

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) || argc != 3 + kinds[i].is_module)
			continue;
		if (kinds[i].is_module)
			elf_image__extend(&image, argv[2], argv[3]);
		else
			elf_image__create(&image, argv[2]);
		kinds[i].make(&image);
		elf_image__finish(&image);
		return 0;
	}
	fprintf(stderr, "usage: elf_bomb KIND PATH [MODULE]\n");
	return 2;
}
