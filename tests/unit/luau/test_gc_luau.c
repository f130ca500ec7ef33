/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files in which the code is found and files in which it is not. tests/oracle/test_collector_luau
 * checks on running programs that it is the right code.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "luau/gc_luau.h"
#include "puc/gc_puc.h"
#include "skip.h"

#define ALL_LAYOUTS UINT16_MAX

static struct elf_file *open_file(const char *path)
{
	struct elf_file *file;

	assert_int_equal(elf_file__open(path, &file), 0);
	return file;
}

static struct gc_code find(const char *path)
{
	struct elf_file *file = open_file(path);
	struct gc_code gc;

	assert_int_equal(gc_luau__find(file, &gc), 0);
	elf_file__close(file);
	assert_int_not_equal(gc.how[0], '\0');
	return gc;
}

static glob_t built_hosts(void)
{
	const char *folder = getenv("OUTPUT");
	char pattern[256];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/hosts/luau_*",
		 folder && *folder ? folder : ".output");
	if (glob(pattern, 0, NULL, &found))
		lacks_package("cargo");
	return found;
}

static void knows_every_build(void **state)
{
	glob_t found = built_hosts();

	(void)state;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct gc_code gc = find(found.gl_pathv[i]);
		uint32_t inside = 0;

		if (!gc.is_known)
			fail_msg("'%s': not known: %s", found.gl_pathv[i], gc.how);
		for (uint32_t j = 0; j < gc.map_count; j++)
			inside += gc.map[j].kind == LS_CODE_COLLECTOR;
		assert_in_range(inside, 3, 60);
		assert_in_range(gc.map_count - inside, 20, GC_CODE_MAX);
	}
	globfree(&found);
}

/* Luau's gcstate is at the offset of PUC Lua 5.1's. */
static void is_told_from_other_families(void **state)
{
	glob_t found = built_hosts();

	(void)state;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct elf_file *file = open_file(found.gl_pathv[i]);
		struct gc_code gc;

		assert_int_equal(gc_puc__find(file, ALL_LAYOUTS, &gc), 0);
		elf_file__close(file);
		assert_false(gc.is_known);
	}
	globfree(&found);
}

static void knows_none_in_other_programs(void **state)
{
	static const char *const programs[] = {
		"/proc/self/exe",  "/bin/bash",       "/usr/bin/perl",   "/usr/bin/python3",
		"/usr/bin/lua5.1", "/usr/bin/lua5.4", "/usr/bin/luajit", "/usr/bin/redis-server"};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (has_program(programs[i]))
			assert_false(find(programs[i]).is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_every_build),
		cmocka_unit_test(is_told_from_other_families),
		cmocka_unit_test(knows_none_in_other_programs),
	};

	return cmocka_run_group_tests_name("gc_luau", tests, NULL, NULL);
}
