/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files in which the code is found and files in which it is not, and that neither takes long.
 * tests/oracle/test_collector checks on running programs that it is the right code.
 */
#include <elf.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "puc/gc_puc.h"
#include "puc/layout_puc.h"
#include "skip.h"

#define MOST_MS 1000 /* with sanitizers; a tenth of it without */

static uint16_t layouts_of(int minor)
{
	uint16_t layouts = 0;

	for (size_t i = 0; i < layouts_puc_count; i++)
		layouts |= (layouts_puc[i].minor == minor) << i;
	return layouts;
}

static struct gc_code find_in(struct elf_file *file, uint16_t layouts)
{
	struct gc_code gc;

	assert_int_equal(gc_puc__find(file, layouts, &gc), 0);
	elf_file__close(file);
	assert_int_not_equal(gc.how[0], '\0');
	return gc;
}

static struct gc_code find(const char *path, uint16_t layouts)
{
	struct elf_file *file;

	assert_int_equal(elf_file__open(path, &file), 0);
	return find_in(file, layouts);
}

static void expect_plausible(const char *path, const struct gc_code *gc)
{
	uint32_t inside = 0;

	if (!gc->is_known)
		fail_msg("'%s': not known: %s", path, gc->how);
	for (uint32_t i = 0; i < gc->map_count; i++) {
		const struct ls_code *code = &gc->map[i];

		inside += code->kind == LS_CODE_COLLECTOR;
		if (i)
			assert_true(code[-1].address + code[-1].size <= code->address);
	}
	assert_in_range(inside, 3, 60);
	assert_in_range(gc->map_count - inside, 20, GC_CODE_MAX);
}

static void expect_known(const char *path, int minor)
{
	struct gc_code gc = find(path, layouts_of(minor));

	expect_plausible(path, &gc);
}

static void knows_debians_interpreters(void **state)
{
	static const char *const programs[] = {"/usr/bin/lua5.1", "/usr/bin/lua5.2",
					       "/usr/bin/lua5.3", "/usr/bin/lua5.4"};

	(void)state;
	for (int i = 0; i < 4; i++) {
		need_program(programs[i], "lua5.x");
		expect_known(programs[i], i + 1);
	}
}

/* They are only read as files, so any machine can run this test. */
static void knows_what_is_built_for_arm64(void **state)
{
	const char *folder = getenv("OUTPUT");
	char pattern[256];
	glob_t found;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/tests/unit/arm64/5.*",
		 folder && *folder ? folder : ".output");
	if (glob(pattern, 0, NULL, &found))
		lacks_package("gcc-aarch64-linux-gnu");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		struct gc_code gc;
		struct elf_file *file;

		assert_int_equal(elf_file__open_for(path, EM_AARCH64, &file), 0);
		gc = find_in(file, layouts_of(strrchr(path, '/')[3] - '0'));
		expect_plausible(path, &gc);
	}
	assert_in_range(found.gl_pathc, 13, 100);
	globfree(&found);
}

static void knows_redis_in_no_time(void **state)
{
	struct timespec start, end;

	(void)state;
	need_program("/usr/bin/redis-server", "redis-server");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	expect_known("/usr/bin/redis-server", 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_in_range((end.tv_sec - start.tv_sec) * 1000 +
				(end.tv_nsec - start.tv_nsec) / 1000000,
			0, MOST_MS);
}

static void knows_none_under_another_releases_layouts(void **state)
{
	(void)state;
	need_program("/usr/bin/lua5.4", "lua5.4");
	assert_false(find("/usr/bin/lua5.4", layouts_of(1)).is_known);
	assert_false(find("/usr/bin/lua5.4", layouts_of(3)).is_known);
	assert_false(find("/usr/bin/lua5.4", 0).is_known);
	/* Among others it is found. */
	assert_true(find("/usr/bin/lua5.4", layouts_of(1) | layouts_of(4)).is_known);
}

static void knows_none_in_other_programs(void **state)
{
	static const char *const programs[] = {"/proc/self/exe", "/bin/bash", "/usr/bin/perl",
					       "/usr/bin/python3"};
	uint16_t all = 0;

	(void)state;
	for (int minor = 1; minor <= 5; minor++)
		all |= layouts_of(minor);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (has_program(programs[i]))
			assert_false(find(programs[i], all).is_known);
}

static void moves_with_its_file(void **state)
{
	struct gc_code there, here;

	(void)state;
	need_program("/usr/bin/lua5.4", "lua5.4");
	there = here = find("/usr/bin/lua5.4", layouts_of(4));
	gc_code__move(&here, 0x555555554000);
	for (uint32_t i = 0; i < there.map_count; i++)
		assert_int_equal(here.map[i].address, there.map[i].address + 0x555555554000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_debians_interpreters),
		cmocka_unit_test(knows_what_is_built_for_arm64),
		cmocka_unit_test(knows_redis_in_no_time),
		cmocka_unit_test(knows_none_under_another_releases_layouts),
		cmocka_unit_test(knows_none_in_other_programs),
		cmocka_unit_test(moves_with_its_file),
	};

	return cmocka_run_group_tests_name("gc_puc", tests, NULL, NULL);
}
