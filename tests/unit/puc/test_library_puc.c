/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arrays that register a library: this program's own, and those of interpreters. */
#include <glob.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "puc/family_puc.h"
#include "skip.h"

#define FUNCTIONS_LEAST 75 /* 5.4 has the fewest */

struct reg {
	const char *name;
	int (*function)(void *state);
};

#define FUNCTION(name)                                                                             \
	static int name(void *state)                                                               \
	{                                                                                          \
		return state == (void *)name;                                                      \
	}

FUNCTION(concat)
FUNCTION(insert)
FUNCTION(sort)
FUNCTION(spawn)
FUNCTION(gsub)
FUNCTION(byte)

#define ARRAY static const struct reg __attribute__((used))

/* A host has added a function of its own, and a field. */
ARRAY extended[] = {{"concat", concat}, {"insert", insert},    {"spawn", spawn},
		    {"sort", sort},     {"placeholder", NULL}, {NULL, NULL}};
/* Another library that has some of the names. */
ARRAY other[] = {{"gsub", gsub}, {"byte", byte}, {"spawn", spawn}, {NULL, NULL}};
/* No NULL ends it. */
ARRAY endless[] = {{"floor", gsub}, {"ceil", byte}, {"sqrt", spawn}, {"abs", (void *)1}};

static void find_in(const char *path, uint16_t machine, struct c_library *library)
{
	struct elf_file *elf;

	assert_int_equal(elf_file__open_for(path, machine, &elf), 0);
	assert_int_equal(library_puc__find(elf, library), 0);
	elf_file__close(elf);
}

static int note_distance(struct dl_phdr_info *info, size_t size, void *distance)
{
	(void)size;
	*(uint64_t *)distance = info->dlpi_addr;
	return 1; /* the program comes first */
}

static bool holds(const struct c_library *library, int (*function)(void *state))
{
	uint64_t distance;

	dl_iterate_phdr(note_distance, &distance);
	for (uint32_t i = 0; i < library->count; i++)
		if (library->functions[i] + distance == (uint64_t)function)
			return true;
	return false;
}

static void takes_functions_of_a_library_by_their_names(void **state)
{
	struct c_library library;

	(void)state;
	find_in("/proc/self/exe", ELF_FILE_MACHINE, &library);
	assert_true(holds(&library, concat));
	assert_true(holds(&library, insert));
	assert_true(holds(&library, sort));
	assert_false(holds(&library, spawn));
	assert_false(holds(&library, gsub));
	assert_int_equal(library.count, 3);
}

static void in_output(char *path, size_t size, const char *folder, const char *name)
{
	const char *output = getenv("OUTPUT");

	snprintf(path, size, "%s/%s/%s", output ? output : ".output", folder, name);
}

/* What runs another state, or anything that is not Lua's, by its symbol in any release. */
static const char *const never[] = {"auxwrap", "coresume", "resume",  "close",   "os_exit",
				    "g_read",  "f_read",   "require", "loadlib", NULL};

static void expect_symbol(struct elf_file *elf, uint64_t function, const char *part)
{
	const char *symbol = elf_file__function_at(elf, function);

	assert_true(function);
	if (!elf_file__is_stripped(elf) && symbol && !strstr(symbol, part))
		fail_msg("%s instead of %s", symbol, part);
}

static void expect_library(const char *path, uint16_t machine)
{
	struct c_library library;
	struct elf_file *elf;
	bool has_sort = false;

	find_in(path, machine, &library);
	print_message("%s: %u functions\n", path, library.count);
	assert_in_range(library.count, FUNCTIONS_LEAST, C_LIBRARY_MAX - 1);
	assert_int_equal(elf_file__open_for(path, machine, &elf), 0);
	for (uint32_t i = 0; i < library.count; i++) {
		const char *symbol = elf_file__function_at(elf, library.functions[i]);

		has_sort |= !symbol || elf_file__is_stripped(elf) || strstr(symbol, "sort");
		for (size_t j = 0; symbol && never[j] && !elf_file__is_stripped(elf); j++)
			if (strstr(symbol, never[j]))
				fail_msg("'%s' has %s", path, symbol);
	}
	assert_true(has_sort);
	expect_symbol(elf, library.resumer.resume, "resume");
	expect_symbol(elf, library.resumer.auxwrap, "auxwrap");
	elf_file__close(elf);
}

static void finds_them_in_interpreters_of_debian(void **state)
{
	static const char *const programs[] = {"/usr/bin/lua5.1", "/usr/bin/lua5.2",
					       "/usr/bin/lua5.3", "/usr/bin/lua5.4"};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		need_program(programs[i], "lua");
		expect_library(programs[i], ELF_FILE_MACHINE);
	}
}

/* Optimized little, for size, at link time; as C++; by clang; a library; static, with musl. */
static void finds_them_however_they_were_built(void **state)
{
	static const char *const hosts[] = {"5.1.5-clang", "5.2.4-shared.so", "5.3.6-O0",
					    "5.4.8-cxx",   "5.4.8-lto",       "5.5.1-small"};
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		in_output(path, sizeof(path), "hosts", hosts[i]);
		need_host(path);
		expect_library(path, ELF_FILE_MACHINE);
	}
	in_output(path, sizeof(path), "tests/programs", "host-musl");
	need_host(path);
	expect_library(path, ELF_FILE_MACHINE);
}

static void finds_them_in_programs_for_arm64(void **state)
{
	char pattern[256];
	glob_t found;

	(void)state;
	in_output(pattern, sizeof(pattern), "tests/unit/arm64", "5.*");
	if (glob(pattern, 0, NULL, &found))
		lacks_package("gcc-aarch64-linux-gnu");
	for (size_t i = 0; i < found.gl_pathc; i++)
		expect_library(found.gl_pathv[i], EM_AARCH64);
	globfree(&found);
}

static void finds_none_elsewhere(void **state)
{
	struct c_library library;

	(void)state;
	find_in("/bin/ls", ELF_FILE_MACHINE, &library);
	assert_int_equal(library.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_functions_of_a_library_by_their_names),
		cmocka_unit_test(finds_them_in_interpreters_of_debian),
		cmocka_unit_test(finds_them_however_they_were_built),
		cmocka_unit_test(finds_them_in_programs_for_arm64),
		cmocka_unit_test(finds_none_elsewhere),
	};

	(void)other;
	(void)endless;
	(void)extended;
	return cmocka_run_group_tests_name("library_puc", tests, NULL, NULL);
}
