/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What unwind tables say of functions; test_call_graph.c has broken ones. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf/eh_frame.h"
#include "skip.h"

struct opened {
	struct elf_file *file;
	struct function_range *functions;
	size_t count;
};

static struct opened read_table(const char *path, uint16_t machine)
{
	struct opened opened;

	assert_int_equal(elf_file__open_for(path, machine, &opened.file), 0);
	assert_int_equal(eh_frame__read(opened.file, &opened.functions, &opened.count), 0);
	return opened;
}

static void release(struct opened *opened)
{
	elf_file__close(opened->file);
	free(opened->functions);
}

static void arm64_path(const char *name, char *path, size_t size)
{
	const char *folder = getenv("OUTPUT");

	snprintf(path, size, "%s/tests/unit/arm64/%s", folder && *folder ? folder : ".output",
		 name);
}

/* The CIE of functions that sign with key B has an augmentation of "zRB". */
static void reads_functions_that_sign_with_key_b(void **state)
{
	struct opened opened;
	char path[256];

	(void)state;
	arm64_path("signed.so", path, sizeof(path));
	if (access(path, R_OK))
		lacks_package("gcc-aarch64-linux-gnu");
	opened = read_table(path, EM_AARCH64);
	assert_int_equal(opened.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct function_range *range = &opened.functions[i];

		assert_string_equal(elf_file__function_at(opened.file, range->start),
				    i ? "caller" : "leaf");
		assert_ptr_equal(elf_file__function_at(opened.file, range->end - 1),
				 elf_file__function_at(opened.file, range->start));
		assert_int_equal(range->frame, 0);
	}
	release(&opened);
}

/* How many functions have a frame of at least so many bytes; 1: EH_FRAME_POINTER, too. */
static size_t count_frames(const struct opened *opened, uint32_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < opened->count; i++)
		count += opened->functions[i].frame >= bytes;
	return count;
}

/* Only for x86-64: luaspy does not use the frames of AArch64 files. */
static void knows_the_sizes_of_frames_on_x86_64(void **state)
{
	struct opened opened;

	(void)state;
#ifdef __x86_64__
	need_program("/usr/bin/lua5.4", "lua5.4");
	opened = read_table("/usr/bin/lua5.4", EM_X86_64);
	assert_in_range(count_frames(&opened, 8), opened.count / 2, opened.count);
#else
	opened = read_table("/proc/self/exe", EM_AARCH64);
	assert_int_equal(count_frames(&opened, 1), 0);
#endif
	release(&opened);
}

#ifdef __x86_64__
/* The tests are built with -fno-omit-frame-pointer. */
static void knows_which_functions_have_a_frame_pointer(void **state)
{
	struct opened opened = read_table("/proc/self/exe", EM_X86_64);
	size_t all = count_frames(&opened, 1), sized = count_frames(&opened, 8);

	(void)state;
	assert_int_equal(EH_FRAME_POINTER, 1);
	assert_in_range(all - sized, opened.count / 2, opened.count);
	release(&opened);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_functions_that_sign_with_key_b),
		cmocka_unit_test(knows_the_sizes_of_frames_on_x86_64),
#ifdef __x86_64__
		cmocka_unit_test(knows_which_functions_have_a_frame_pointer),
#endif
	};

	return cmocka_run_group_tests_name("eh_frame", tests, NULL, NULL);
}
