/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_file.h"
#include "process/process.h"
#include "stage.h"

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

/* A whole ELF file, small enough to corrupt each of its bytes in turn. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[5];
	char rodata[32], text[32], data[32], names[sizeof(NAMES)];
	Elf64_Dyn dynamic[2];
	Elf64_Sym symbols[SYMBOLS];
	Elf64_Shdr sections[SECTIONS];
};

struct fixture {
	int fd;
	char path[32]; /* of `fd`, which is in memory: some tests write thousands of files */
	struct image image;
	size_t symbols;
	struct elf_file *file;
};

static uint32_t name_offset(const char *name)
{
	const char *names = NAMES;

	for (size_t i = 1; i < sizeof(NAMES) - 1; i += strlen(names + i) + 1)
		if (strcmp(names + i, name) == 0)
			return (uint32_t)i;
	fail_msg("'%s' is not in the string table", name);
	return 0;
}

static Elf64_Sym *add_symbol(struct fixture *fixture, const char *name, uint64_t offset,
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

static void set_section(struct image *image, int index, uint32_t type, uint64_t flags,
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

static void set_segment(struct image *image, int index, uint32_t flags, const char *content,
			uint64_t address)
{
	image->segments[index] = (Elf64_Phdr){.p_type = PT_LOAD,
					      .p_flags = flags,
					      .p_offset = (uint64_t)(content - (char *)image),
					      .p_vaddr = address,
					      .p_filesz = 32,
					      .p_memsz = 32};
}

static void make_sections(struct image *image)
{
	set_section(image, RODATA, SHT_PROGBITS, SHF_ALLOC, image->rodata, 32);
	set_section(image, TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, image->text, 0x1000);
	set_section(image, DATA, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, image->data, 32);
	set_section(image, SYMTAB, SHT_SYMTAB, 0, image->symbols, sizeof(image->symbols));
	set_section(image, STRTAB, SHT_STRTAB, 0, image->names, sizeof(image->names));
	image->sections[SYMTAB].sh_link = STRTAB;
	image->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct image *image = &fixture->image;

	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct image, segments),
		.e_shoff = offsetof(struct image, sections),
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
					  .p_offset = offsetof(struct image, dynamic),
					  .p_filesz = sizeof(image->dynamic)};
	image->dynamic[0].d_tag = DT_FLAGS_1;
	make_sections(image);
	fixture->fd = memfd_create("elf", MFD_CLOEXEC);
	snprintf(fixture->path, sizeof(fixture->path), "/proc/self/fd/%d", fixture->fd);
	*state = fixture;
	return fixture->fd < 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	elf_file__close(fixture->file);
	close(fixture->fd);
	free(fixture);
	return 0;
}

static int open_bytes(struct fixture *fixture, const void *bytes, size_t size)
{
	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(pwrite(fixture->fd, bytes, size, 0), size);
	elf_file__close(fixture->file);
	fixture->file = NULL;
	return elf_file__open(fixture->path, &fixture->file);
}

static int open_image(struct fixture *fixture)
{
	return open_bytes(fixture, &fixture->image, sizeof(fixture->image));
}

static const char *function_at(struct fixture *fixture, uint64_t offset)
{
	const char *name = elf_file__function_at(fixture->file, TEXT_ADDRESS + offset);

	return name ? name : "(none)";
}

static void finds_strings_in_data_alone(void **state)
{
	struct fixture *fixture = *state;
	const char *found;
	size_t room = 0;

	fixture->image.sections[STRTAB].sh_flags = SHF_ALLOC;
	assert_int_equal(open_image(fixture), 0);
	found = elf_file__find(fixture->file, "read-only", &room);
	assert_non_null(found);
	assert_int_equal(room, 32 - 3 - 3);
	assert_memory_equal(found, "read-only data", 15);
	assert_non_null(elf_file__find(fixture->file, "in data", &room));
	assert_null(elf_file__find(fixture->file, "in code", &room));
	assert_null(elf_file__find(fixture->file, "resolver", &room));
}

/* There may be much of it, without a string literal. */
static void searches_read_only_data_first_and_little_that_is_writable(void **state)
{
	struct fixture *fixture = *state;
	const size_t size = sizeof(fixture->image) + (2 << 20);
	char *bytes = calloc(1, size);
	size_t room = 0;

	assert_non_null(bytes);
	strcpy(fixture->image.data, "data");
	assert_int_equal(open_image(fixture), 0);
	assert_non_null(elf_file__find(fixture->file, "data", &room));
	assert_int_equal(room, 32 - 3 - strlen("in read-only "));
	strcpy(fixture->image.data, "in data");
	fixture->image.sections[DATA].sh_size = (1 << 20) + 1;
	memcpy(bytes, &fixture->image, sizeof(fixture->image));
	assert_int_equal(open_bytes(fixture, bytes, size), 0);
	assert_null(elf_file__find(fixture->file, "in data", &room));
	free(bytes);
}

static void searches_segments_without_section_headers(void **state)
{
	struct fixture *fixture = *state;
	size_t room;

	fixture->image.header.e_shoff = 0;
	fixture->image.header.e_shnum = 0;
	assert_int_equal(open_image(fixture), 0);
	assert_non_null(elf_file__find(fixture->file, "read-only", &room));
	assert_non_null(elf_file__find(fixture->file, "in code", &room));
	assert_non_null(elf_file__find(fixture->file, "in data", &room));
	assert_true(elf_file__is_stripped(fixture->file));
	assert_string_equal(function_at(fixture, 0), "(none)");
}

static void tells_libraries_from_programs(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_image(fixture), 0);
	assert_true(elf_file__is_shared_library(fixture->file));
	fixture->image.segments[4].p_type = PT_INTERP;
	assert_int_equal(open_image(fixture), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
	fixture->image.segments[4].p_type = PT_NULL;
	fixture->image.dynamic[0].d_un.d_val = DF_1_PIE;
	assert_int_equal(open_image(fixture), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
	fixture->image.dynamic[0].d_un.d_val = 0;
	fixture->image.header.e_type = ET_EXEC;
	assert_int_equal(open_image(fixture), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
}

static void names_the_innermost_function(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	add_symbol(fixture, "inner", 0x140, 0x10, STB_LOCAL);
	assert_int_equal(open_image(fixture), 0);
	assert_false(elf_file__is_stripped(fixture->file));
	assert_string_equal(function_at(fixture, 0xff), "(none)");
	assert_string_equal(function_at(fixture, 0x100), "outer");
	assert_string_equal(function_at(fixture, 0x140), "inner");
	assert_string_equal(function_at(fixture, 0x14f), "inner");
	assert_string_equal(function_at(fixture, 0x150), "outer");
	assert_string_equal(function_at(fixture, 0x1ff), "outer");
	assert_string_equal(function_at(fixture, 0x200), "(none)");
}

static void lets_a_symbol_without_size_reach_to_the_next_or_the_section_end(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "last", 0x900, 0, STB_GLOBAL);
	add_symbol(fixture, "no_size", 0x100, 0, STB_GLOBAL);
	add_symbol(fixture, "outer", 0x200, 0x10, STB_GLOBAL);
	assert_int_equal(open_image(fixture), 0);
	assert_string_equal(function_at(fixture, 0x1ff), "no_size");
	assert_string_equal(function_at(fixture, 0x210), "(none)");
	assert_string_equal(function_at(fixture, 0xfff), "last");
	assert_string_equal(function_at(fixture, 0x1000), "(none)");
}

static void chooses_among_aliases(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "local", 0x100, 8, STB_LOCAL);
	add_symbol(fixture, "weak", 0x100, 8, STB_WEAK);
	add_symbol(fixture, "__alias", 0x100, 8, STB_GLOBAL);
	add_symbol(fixture, "alias_too", 0x100, 8, STB_GLOBAL);
	add_symbol(fixture, "alias", 0x100, 0, STB_GLOBAL);
	add_symbol(fixture, "local", 0x200, 8, STB_LOCAL);
	add_symbol(fixture, "weak", 0x200, 8, STB_WEAK);
	add_symbol(fixture, "__alias", 0x300, 8, STB_GLOBAL);
	add_symbol(fixture, "alias_too", 0x300, 8, STB_GLOBAL);
	assert_int_equal(open_image(fixture), 0);
	assert_string_equal(function_at(fixture, 0x107), "alias");
	assert_string_equal(function_at(fixture, 0x108), "(none)");
	assert_string_equal(function_at(fixture, 0x200), "weak");
	assert_string_equal(function_at(fixture, 0x300), "alias_too");
}

static void shows_versions_and_resolvers_plain_and_no_imports(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "versioned@@LUA_5.4", 0x100, 8, STB_GLOBAL);
	add_symbol(fixture, "resolver", 0x200, 8, STB_GLOBAL)->st_info =
		ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	add_symbol(fixture, "missing", 0x300, 8, STB_GLOBAL)->st_shndx = SHN_UNDEF;
	add_symbol(fixture, "outer", 0x400, 8, STB_GLOBAL)->st_info =
		ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	assert_int_equal(open_image(fixture), 0);
	assert_string_equal(function_at(fixture, 0x100), "versioned");
	assert_string_equal(function_at(fixture, 0x200), "resolver");
	assert_string_equal(function_at(fixture, 0x300), "(none)");
	assert_string_equal(function_at(fixture, 0x400), "(none)");
}

static void takes_dynamic_symbols_of_a_stripped_file(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	fixture->image.sections[SYMTAB].sh_type = SHT_DYNSYM;
	assert_int_equal(open_image(fixture), 0);
	assert_true(elf_file__is_stripped(fixture->file));
	assert_string_equal(function_at(fixture, 0x100), "outer");
}

static void maps_offsets_to_addresses(void **state)
{
	struct fixture *fixture = *state;
	uint64_t text = offsetof(struct image, text);

	assert_int_equal(open_image(fixture), 0);
	assert_int_equal(elf_file__address_of_offset(fixture->file, text + 5), TEXT_ADDRESS + 5);
	assert_int_equal(elf_file__address_of_offset(fixture->file, 0), UINT64_MAX);
	assert_int_equal(elf_file__address_of_offset(fixture->file, UINT64_MAX), UINT64_MAX);
}

static void refuses_what_is_no_program_for_this_machine(void **state)
{
	struct fixture *fixture = *state;
	struct image good = fixture->image, *image = &fixture->image;

	assert_int_equal(open_bytes(fixture, "", 0), -ENOEXEC);
	assert_int_equal(open_bytes(fixture, "\177ELF", 4), -ENOEXEC);
	assert_int_equal(open_bytes(fixture, "#!/bin/sh\nexec something else\n", 30), -ENOEXEC);
	assert_int_equal(open_bytes(fixture, &good, 40), -ENOEXEC);
	image->header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_image(fixture), -ENOTSUP);
	*image = good;
	image->header.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_image(fixture), -ENOTSUP);
	*image = good;
	image->header.e_machine = EM_RISCV;
	assert_int_equal(open_image(fixture), -ENOTSUP);
	assert_int_equal(elf_file__open_for(fixture->path, EM_RISCV, &fixture->file), 0);
	*image = good;
	image->header.e_type = ET_REL;
	assert_int_equal(open_image(fixture), -ENOEXEC);
}

static void refuses_what_is_no_file_without_waiting_for_it(void **state)
{
	struct fixture *fixture = *state;

	char folder[] = "/tmp/elf-test-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	assert_int_equal(elf_file__open(path, &fixture->file), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(elf_file__open(path, &fixture->file), -ENOEXEC);
	unlink(path);
	rmdir(folder);
	assert_int_equal(elf_file__open("/tmp", &fixture->file), -ENOEXEC);
	assert_int_equal(elf_file__open("/dev/zero", &fixture->file), -ENOEXEC);
	assert_null(fixture->file);
}

static void use(struct fixture *fixture)
{
	size_t room;
	const char *found;

	if (!fixture->file)
		return;
	found = elf_file__find(fixture->file, "read-only data", &room);
	if (found)
		assert_memory_equal(found, "read-only data", 14);
	for (uint64_t offset = 0; offset <= 0x1000; offset += 0x80)
		assert_true(strlen(function_at(fixture, offset)) < sizeof(NAMES));
	elf_file__address_of_offset(fixture->file, 1000);
	elf_file__is_shared_library(fixture->file);
}

static void survives_every_length_of_a_truncated_file(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	for (size_t size = 0; size < sizeof(fixture->image); size++) {
		open_bytes(fixture, &fixture->image, size);
		use(fixture);
	}
}

static void survives_every_byte_being_a_lie(void **state)
{
	static const unsigned char lies[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct fixture *fixture = *state;
	unsigned char *bytes = (unsigned char *)&fixture->image;

	add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	add_symbol(fixture, "versioned@@LUA_5.4", 0x200, 0, STB_GLOBAL);
	for (size_t i = 0; i < sizeof(fixture->image); i++) {
		unsigned char honest = bytes[i];

		for (size_t j = 0; j < sizeof(lies); j++) {
			bytes[i] = lies[j];
			open_image(fixture);
			use(fixture);
		}
		bytes[i] = honest;
	}
}

static void survives_a_file_that_shrinks_while_it_is_open(void **state)
{
	struct fixture *fixture = *state;
	size_t room;

	add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	assert_int_equal(open_image(fixture), 0);
	assert_int_equal(ftruncate(fixture->fd, offsetof(struct image, rodata) + 10), 0);
	assert_null(elf_file__find(fixture->file, "read-only data", &room));
	assert_non_null(elf_file__find(fixture->file, "in r", &room));
	assert_int_equal(room, 7);
	assert_string_equal(function_at(fixture, 0x100), "(none)");
}

static void refuses_a_number_of_sections_that_would_take_all_memory(void **state)
{
	struct fixture *fixture = *state;

	fixture->image.header.e_shnum = 0;
	fixture->image.sections[0].sh_size = 1u << 28;
	assert_int_equal(open_bytes(fixture, &fixture->image, sizeof(fixture->image)), -ENOEXEC);
	/* The same with a file large enough for them all. */
	assert_int_equal(ftruncate(fixture->fd, 1ll << 36), 0);
	assert_int_equal(elf_file__open(fixture->path, &fixture->file), -ENOEXEC);
}

static void reads_no_more_than_the_file_has_bytes(void **state)
{
	struct fixture *fixture = *state;
	size_t room;

	/* Of sections that overlap, only the first ones fit. */
	fixture->image.sections[TEXT] = fixture->image.sections[RODATA];
	fixture->image.sections[TEXT].sh_offset = 0;
	fixture->image.sections[TEXT].sh_size = sizeof(fixture->image);
	assert_int_equal(open_image(fixture), 0);
	assert_non_null(elf_file__find(fixture->file, "read-only", &room));
	assert_null(elf_file__find(fixture->file, "in code", &room));
}

static void leaves_out_a_string_table_without_an_end(void **state)
{
	struct fixture *fixture = *state;

	add_symbol(fixture, "last", 0x100, 0x100, STB_GLOBAL);
	fixture->image.sections[STRTAB].sh_size = sizeof(NAMES) - 3;
	assert_int_equal(open_image(fixture), 0);
	assert_string_equal(function_at(fixture, 0x100), "(none)");
}

static void names_a_function_of_this_program(void **state)
{
	struct fixture *fixture = *state;
	struct process_mappings mappings;
	uint64_t address = (uintptr_t)names_a_function_of_this_program, offset = 0;
	size_t room;

	assert_int_equal(process__mappings(getpid(), &mappings), 0);
	for (size_t i = 0; i < mappings.count; i++)
		if (mappings.items[i].start <= address && address < mappings.items[i].end)
			offset = address - mappings.items[i].start + mappings.items[i].offset;
	process__mappings_free(&mappings);
	assert_int_equal(elf_file__open("/proc/self/exe", &fixture->file), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
	assert_non_null(elf_file__find(fixture->file, "a string of this program", &room));
	assert_string_equal(elf_file__function_at(fixture->file, elf_file__address_of_offset(
									 fixture->file, offset)),
			    __func__);
}

/* Words of 24 bytes in a single segment: pieces that are read end within some of them. */
static void holds_what_lies_across_pieces(void **state)
{
	enum { WORDS = 30000 };
	static char content[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + WORDS * 24];
	struct stage *stage = *state;
	Elf64_Ehdr header = {.e_type = ET_DYN,
			     .e_machine = MACHINE,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(header),
			     .e_ehsize = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1,
			     .e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = sizeof(content)};
	struct elf_file *file;
	char word[25];

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(content, &header, sizeof(header));
	memcpy(content + sizeof(header), &segment, sizeof(segment));
	for (int i = 0; i < WORDS; i++) {
		snprintf(word, sizeof(word), "<word %015d>  ", i);
		memcpy(content + sizeof(header) + sizeof(segment) + i * 24, word, 24);
	}
	write_file(in_folder(stage, "words"), content, sizeof(content));
	assert_int_equal(elf_file__open(in_folder(stage, "words"), &file), 0);
	/* All near the ends of pieces, which headers do not move. */
	for (int i = 0; i < WORDS; i++) {
		if (i % 10923 > 20 && i % 10923 < 10900 && i % 1000)
			continue;
		snprintf(word, sizeof(word), "<word %015d>", i);
		assert_int_equal(elf_file__holds(file, word), true);
	}
	assert_int_equal(elf_file__holds(file, "<word 000000000030000>"), false);
	elf_file__close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(finds_strings_in_data_alone),
		TEST(searches_read_only_data_first_and_little_that_is_writable),
		TEST(searches_segments_without_section_headers),
		TEST(tells_libraries_from_programs),
		TEST(names_the_innermost_function),
		TEST(lets_a_symbol_without_size_reach_to_the_next_or_the_section_end),
		TEST(chooses_among_aliases),
		TEST(shows_versions_and_resolvers_plain_and_no_imports),
		TEST(takes_dynamic_symbols_of_a_stripped_file),
		TEST(maps_offsets_to_addresses),
		TEST(refuses_what_is_no_program_for_this_machine),
		TEST(refuses_what_is_no_file_without_waiting_for_it),
		TEST(survives_every_length_of_a_truncated_file),
		TEST(survives_every_byte_being_a_lie),
		TEST(survives_a_file_that_shrinks_while_it_is_open),
		TEST(refuses_a_number_of_sections_that_would_take_all_memory),
		TEST(reads_no_more_than_the_file_has_bytes),
		TEST(leaves_out_a_string_table_without_an_end),
		TEST(names_a_function_of_this_program),
#undef TEST
		staged(holds_what_lies_across_pieces),
	};

	return cmocka_run_group_tests_name("elf_file", tests, NULL, NULL);
}
