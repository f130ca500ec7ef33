/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what luaspy finds in ELF files, and that it refuses damaged ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_fixture.h"
#include "stage.h"

static void finds_strings_in_data_alone(void **state)
{
	struct elf_fixture *fixture = *state;
	const char *found;
	size_t room = 0;

	fixture->image.sections[STRTAB].sh_flags = SHF_ALLOC;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
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
	struct elf_fixture *fixture = *state;
	const size_t size = sizeof(fixture->image) + (2 << 20);
	char *bytes = calloc(1, size);
	size_t room = 0;

	assert_non_null(bytes);
	strcpy(fixture->image.data, "data");
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_non_null(elf_file__find(fixture->file, "data", &room));
	assert_int_equal(room, 32 - 3 - strlen("in read-only "));
	strcpy(fixture->image.data, "in data");
	fixture->image.sections[DATA].sh_size = (1 << 20) + 1;
	memcpy(bytes, &fixture->image, sizeof(fixture->image));
	assert_int_equal(elf_fixture__open_bytes(fixture, bytes, size), 0);
	assert_null(elf_file__find(fixture->file, "in data", &room));
	free(bytes);
}

static void searches_segments_without_section_headers(void **state)
{
	struct elf_fixture *fixture = *state;
	size_t room;

	fixture->image.header.e_shoff = 0;
	fixture->image.header.e_shnum = 0;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_non_null(elf_file__find(fixture->file, "read-only", &room));
	assert_non_null(elf_file__find(fixture->file, "in code", &room));
	assert_non_null(elf_file__find(fixture->file, "in data", &room));
	assert_true(elf_file__is_stripped(fixture->file));
	assert_string_equal(elf_fixture__function_at(fixture, 0), "(none)");
}

static void tells_libraries_from_programs(void **state)
{
	struct elf_fixture *fixture = *state;

	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_true(elf_file__is_shared_library(fixture->file));
	fixture->image.segments[4].p_type = PT_INTERP;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
	fixture->image.segments[4].p_type = PT_NULL;
	fixture->image.dynamic[0].d_un.d_val = DF_1_PIE;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
	fixture->image.dynamic[0].d_un.d_val = 0;
	fixture->image.header.e_type = ET_EXEC;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_false(elf_file__is_shared_library(fixture->file));
}

static void maps_offsets_to_addresses(void **state)
{
	struct elf_fixture *fixture = *state;
	uint64_t text = offsetof(struct elf_image, text);

	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_int_equal(elf_file__address_of_offset(fixture->file, text + 5), TEXT_ADDRESS + 5);
	assert_int_equal(elf_file__address_of_offset(fixture->file, 0), UINT64_MAX);
	assert_int_equal(elf_file__address_of_offset(fixture->file, UINT64_MAX), UINT64_MAX);
}

static void refuses_what_is_no_program_for_this_machine(void **state)
{
	struct elf_fixture *fixture = *state;
	struct elf_image good = fixture->image, *image = &fixture->image;

	assert_int_equal(elf_fixture__open_bytes(fixture, "", 0), -ENOEXEC);
	assert_int_equal(elf_fixture__open_bytes(fixture, "\177ELF", 4), -ENOEXEC);
	assert_int_equal(elf_fixture__open_bytes(fixture, "#!/bin/sh\nexec something else\n", 30),
			 -ENOEXEC);
	assert_int_equal(elf_fixture__open_bytes(fixture, &good, 40), -ENOEXEC);
	image->header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(elf_fixture__open_image(fixture), -ENOTSUP);
	*image = good;
	image->header.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(elf_fixture__open_image(fixture), -ENOTSUP);
	*image = good;
	image->header.e_machine = EM_RISCV;
	assert_int_equal(elf_fixture__open_image(fixture), -ENOTSUP);
	assert_int_equal(elf_file__open_for(fixture->path, EM_RISCV, &fixture->file), 0);
	*image = good;
	image->header.e_type = ET_REL;
	assert_int_equal(elf_fixture__open_image(fixture), -ENOEXEC);
}

static void refuses_what_is_no_file_without_waiting_for_it(void **state)
{
	struct elf_fixture *fixture = *state;

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

static void use(struct elf_fixture *fixture)
{
	size_t room;
	const char *found;

	if (!fixture->file)
		return;
	found = elf_file__find(fixture->file, "read-only data", &room);
	if (found)
		assert_memory_equal(found, "read-only data", 14);
	for (uint64_t offset = 0; offset <= 0x1000; offset += 0x80)
		assert_true(strlen(elf_fixture__function_at(fixture, offset)) < sizeof(NAMES));
	elf_file__address_of_offset(fixture->file, 1000);
	elf_file__is_shared_library(fixture->file);
}

static void survives_every_length_of_a_truncated_file(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	for (size_t size = 0; size < sizeof(fixture->image); size++) {
		elf_fixture__open_bytes(fixture, &fixture->image, size);
		use(fixture);
	}
}

static void survives_every_byte_being_a_lie(void **state)
{
	static const unsigned char lies[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct elf_fixture *fixture = *state;
	unsigned char *bytes = (unsigned char *)&fixture->image;

	elf_fixture__add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "versioned@@LUA_5.4", 0x200, 0, STB_GLOBAL);
	for (size_t i = 0; i < sizeof(fixture->image); i++) {
		unsigned char honest = bytes[i];

		for (size_t j = 0; j < sizeof(lies); j++) {
			bytes[i] = lies[j];
			elf_fixture__open_image(fixture);
			use(fixture);
		}
		bytes[i] = honest;
	}
}

static void survives_a_file_that_shrinks_while_it_is_open(void **state)
{
	struct elf_fixture *fixture = *state;
	size_t room;

	elf_fixture__add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_int_equal(ftruncate(fixture->fd, offsetof(struct elf_image, rodata) + 10), 0);
	assert_null(elf_file__find(fixture->file, "read-only data", &room));
	assert_non_null(elf_file__find(fixture->file, "in r", &room));
	assert_int_equal(room, 7);
	assert_string_equal(elf_fixture__function_at(fixture, 0x100), "(none)");
}

static void refuses_a_number_of_sections_that_would_take_all_memory(void **state)
{
	struct elf_fixture *fixture = *state;

	fixture->image.header.e_shnum = 0;
	fixture->image.sections[0].sh_size = 1u << 28;
	assert_int_equal(elf_fixture__open_bytes(fixture, &fixture->image, sizeof(fixture->image)),
			 -ENOEXEC);
	/* The same with a file large enough for them all. */
	assert_int_equal(ftruncate(fixture->fd, 1ll << 36), 0);
	assert_int_equal(elf_file__open(fixture->path, &fixture->file), -ENOEXEC);
}

static void reads_no_more_than_the_file_has_bytes(void **state)
{
	struct elf_fixture *fixture = *state;
	size_t room;

	/* Of sections that overlap, only the first ones fit. */
	fixture->image.sections[TEXT] = fixture->image.sections[RODATA];
	fixture->image.sections[TEXT].sh_offset = 0;
	fixture->image.sections[TEXT].sh_size = sizeof(fixture->image);
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_non_null(elf_file__find(fixture->file, "read-only", &room));
	assert_null(elf_file__find(fixture->file, "in code", &room));
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
		with_elf(finds_strings_in_data_alone),
		with_elf(searches_read_only_data_first_and_little_that_is_writable),
		with_elf(searches_segments_without_section_headers),
		with_elf(tells_libraries_from_programs),
		with_elf(maps_offsets_to_addresses),
		with_elf(refuses_what_is_no_program_for_this_machine),
		with_elf(refuses_what_is_no_file_without_waiting_for_it),
		with_elf(survives_every_length_of_a_truncated_file),
		with_elf(survives_every_byte_being_a_lie),
		with_elf(survives_a_file_that_shrinks_while_it_is_open),
		with_elf(refuses_a_number_of_sections_that_would_take_all_memory),
		with_elf(reads_no_more_than_the_file_has_bytes),
		staged(holds_what_lies_across_pieces),
	};

	return cmocka_run_group_tests_name("elf_file", tests, NULL, NULL);
}
