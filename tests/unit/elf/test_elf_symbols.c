/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which function of an ELF file an address is in, by its symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_fixture.h"
#include "process/process.h"

static void names_the_innermost_function(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "inner", 0x140, 0x10, STB_LOCAL);
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_false(elf_file__is_stripped(fixture->file));
	assert_string_equal(elf_fixture__function_at(fixture, 0xff), "(none)");
	assert_string_equal(elf_fixture__function_at(fixture, 0x100), "outer");
	assert_string_equal(elf_fixture__function_at(fixture, 0x140), "inner");
	assert_string_equal(elf_fixture__function_at(fixture, 0x14f), "inner");
	assert_string_equal(elf_fixture__function_at(fixture, 0x150), "outer");
	assert_string_equal(elf_fixture__function_at(fixture, 0x1ff), "outer");
	assert_string_equal(elf_fixture__function_at(fixture, 0x200), "(none)");
}

static void lets_a_symbol_without_size_reach_to_the_next_or_the_section_end(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "last", 0x900, 0, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "no_size", 0x100, 0, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "outer", 0x200, 0x10, STB_GLOBAL);
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_string_equal(elf_fixture__function_at(fixture, 0x1ff), "no_size");
	assert_string_equal(elf_fixture__function_at(fixture, 0x210), "(none)");
	assert_string_equal(elf_fixture__function_at(fixture, 0xfff), "last");
	assert_string_equal(elf_fixture__function_at(fixture, 0x1000), "(none)");
}

static void chooses_among_aliases(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "local", 0x100, 8, STB_LOCAL);
	elf_fixture__add_symbol(fixture, "weak", 0x100, 8, STB_WEAK);
	elf_fixture__add_symbol(fixture, "__alias", 0x100, 8, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "alias_too", 0x100, 8, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "alias", 0x100, 0, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "local", 0x200, 8, STB_LOCAL);
	elf_fixture__add_symbol(fixture, "weak", 0x200, 8, STB_WEAK);
	elf_fixture__add_symbol(fixture, "__alias", 0x300, 8, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "alias_too", 0x300, 8, STB_GLOBAL);
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_string_equal(elf_fixture__function_at(fixture, 0x107), "alias");
	assert_string_equal(elf_fixture__function_at(fixture, 0x108), "(none)");
	assert_string_equal(elf_fixture__function_at(fixture, 0x200), "weak");
	assert_string_equal(elf_fixture__function_at(fixture, 0x300), "alias_too");
}

static void shows_versions_and_resolvers_plain_and_no_imports(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "versioned@@LUA_5.4", 0x100, 8, STB_GLOBAL);
	elf_fixture__add_symbol(fixture, "resolver", 0x200, 8, STB_GLOBAL)->st_info =
		ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	elf_fixture__add_symbol(fixture, "missing", 0x300, 8, STB_GLOBAL)->st_shndx = SHN_UNDEF;
	elf_fixture__add_symbol(fixture, "outer", 0x400, 8, STB_GLOBAL)->st_info =
		ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_string_equal(elf_fixture__function_at(fixture, 0x100), "versioned");
	assert_string_equal(elf_fixture__function_at(fixture, 0x200), "resolver");
	assert_string_equal(elf_fixture__function_at(fixture, 0x300), "(none)");
	assert_string_equal(elf_fixture__function_at(fixture, 0x400), "(none)");
}

static void takes_dynamic_symbols_of_a_stripped_file(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "outer", 0x100, 0x100, STB_GLOBAL);
	fixture->image.sections[SYMTAB].sh_type = SHT_DYNSYM;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_true(elf_file__is_stripped(fixture->file));
	assert_string_equal(elf_fixture__function_at(fixture, 0x100), "outer");
}

static void leaves_out_a_string_table_without_an_end(void **state)
{
	struct elf_fixture *fixture = *state;

	elf_fixture__add_symbol(fixture, "last", 0x100, 0x100, STB_GLOBAL);
	fixture->image.sections[STRTAB].sh_size = sizeof(NAMES) - 3;
	assert_int_equal(elf_fixture__open_image(fixture), 0);
	assert_string_equal(elf_fixture__function_at(fixture, 0x100), "(none)");
}

static void names_a_function_of_this_program(void **state)
{
	struct elf_fixture *fixture = *state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_elf(names_the_innermost_function),
		with_elf(lets_a_symbol_without_size_reach_to_the_next_or_the_section_end),
		with_elf(chooses_among_aliases),
		with_elf(shows_versions_and_resolvers_plain_and_no_imports),
		with_elf(takes_dynamic_symbols_of_a_stripped_file),
		with_elf(leaves_out_a_string_table_without_an_end),
		with_elf(names_a_function_of_this_program),
	};

	return cmocka_run_group_tests_name("elf_symbols", tests, NULL, NULL);
}
