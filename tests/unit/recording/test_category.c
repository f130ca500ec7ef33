/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "recording/category.h"

static const struct ls_sample script = {
	.class = LS_SAMPLE_COMPLETE, .comm = "worker", .vm = 0x1000};
static const struct ls_sample host = {.class = LS_SAMPLE_HOST, .comm = "worker"};
static const struct ls_sample unreadable = {
	.class = LS_SAMPLE_UNREADABLE, .comm = "worker", .vm = 0x1000};

#define assert_filed(categories, sample, source, expected)                                         \
	assert_string_equal(categories__of_sample(categories, sample, source), expected)

static const char *vm_name(struct categories *categories, uint64_t vm)
{
	struct ls_sample sample = script;

	sample.vm = vm;
	return categories__of_sample(categories, &sample, NULL);
}

static void knows_the_words(void **state)
{
	(void)state;
	assert_int_equal(category__parse("thread"), CATEGORY_THREAD);
	assert_int_equal(category__parse("process"), CATEGORY_PROCESS);
	assert_int_equal(category__parse("state"), CATEGORY_STATE);
	assert_int_equal(category__parse("chunk"), CATEGORY_CHUNK);
	assert_int_equal(category__parse("threads"), -EINVAL);
	assert_int_equal(category__parse(""), -EINVAL);
}

static void files_by_thread(void **state)
{
	struct categories *categories = categories__new(CATEGORY_THREAD, "lua (pid 1)", 0);

	(void)state;
	assert_non_null(categories);
	assert_filed(categories, &script, NULL, "worker");
	assert_filed(categories, &host, NULL, "worker");
	assert_string_equal(categories__of_thread(categories, "gone"), "gone");
	categories__free(categories);
}

static void files_by_process(void **state)
{
	struct categories *categories = categories__new(CATEGORY_PROCESS, "sh (pid 1)", 0);

	(void)state;
	assert_non_null(categories);
	assert_filed(categories, &script, NULL, "sh (pid 1)");
	assert_int_equal(categories__rename(categories, "lua (pid 1)"), 0);
	assert_filed(categories, &host, NULL, "lua (pid 1)");
	assert_string_equal(categories__of_thread(categories, "gone"), "lua (pid 1)");
	categories__free(categories);
}

static void numbers_vms_as_they_come(void **state)
{
	struct categories *categories = categories__new(CATEGORY_STATE, "lua (pid 1)", 0);

	(void)state;
	assert_non_null(categories);
	assert_string_equal(vm_name(categories, 0x2000), "Lua VM 1 (0x2000)");
	assert_string_equal(vm_name(categories, 0x1000), "Lua VM 2 (0x1000)");
	assert_string_equal(vm_name(categories, 0x2000), "Lua VM 1 (0x2000)");
	assert_filed(categories, &host, NULL, "(no VM)");
	assert_filed(categories, &unreadable, NULL, "(no VM)");
	assert_string_equal(categories__of_thread(categories, "gone"), "(no VM)");
	categories__forget_vms(categories);
	assert_string_equal(vm_name(categories, 0x2000), "Lua VM 3 (0x2000)");
	categories__free(categories);
}

static const char *part_name(struct categories *categories, uint64_t vm, uint8_t memory_category)
{
	struct ls_sample sample = script;

	sample.vm = vm;
	sample.memory_category = memory_category;
	return categories__of_sample(categories, &sample, NULL);
}

static void divides_vms_by_memory_categories(void **state)
{
	struct categories *categories = categories__new(CATEGORY_STATE, "lua (pid 1)", 1);

	(void)state;
	assert_non_null(categories);
	assert_string_equal(part_name(categories, 0x2000, 7),
			    "lua (pid 1): Lua VM 1 (0x2000), memory category 7");
	assert_string_equal(part_name(categories, 0x1000, 7),
			    "lua (pid 1): Lua VM 2 (0x1000), memory category 7");
	assert_string_equal(part_name(categories, 0x2000, 255),
			    "lua (pid 1): Lua VM 1 (0x2000), memory category 255");
	assert_string_equal(part_name(categories, 0x2000, 0), "lua (pid 1): Lua VM 1 (0x2000)");
	categories__free(categories);
}

/* A hostile target may have 255 of them in each VM. */
static void counts_memory_categories_among_the_thousand(void **state)
{
	struct categories *categories = categories__new(CATEGORY_STATE, "lua (pid 1)", 0);

	(void)state;
	assert_non_null(categories);
	for (uint64_t vm = 1; vm <= 500; vm++)
		part_name(categories, vm << 12, 9);
	assert_string_equal(part_name(categories, 0x1000, 10), "(other VMs)");
	assert_string_equal(part_name(categories, 501 << 12, 9), "(other VMs)");
	assert_string_equal(part_name(categories, 500 << 12, 9),
			    "Lua VM 500 (0x1f4000), memory category 9");
	categories__free(categories);
}

static void stops_counting_vms_at_a_thousand(void **state)
{
	struct categories *categories = categories__new(CATEGORY_STATE, "lua (pid 1)", 0);

	(void)state;
	assert_non_null(categories);
	for (uint64_t vm = 1; vm <= 1000; vm++)
		vm_name(categories, vm << 12);
	assert_string_equal(vm_name(categories, 1001 << 12), "(other VMs)");
	assert_string_equal(vm_name(categories, 1000 << 12), "Lua VM 1000 (0x3e8000)");
	categories__free(categories);
}

static void files_by_chunk(void **state)
{
	struct categories *categories = categories__new(CATEGORY_CHUNK, "lua (pid 1)", 0);

	(void)state;
	assert_non_null(categories);
	assert_filed(categories, &script, "app.lua", "app.lua");
	assert_filed(categories, &script, NULL, "(unknown chunk)");
	assert_filed(categories, &host, NULL, "(no chunk)");
	assert_filed(categories, &unreadable, NULL, "(no chunk)");
	assert_string_equal(categories__of_thread(categories, "gone"), "(no chunk)");
	categories__free(categories);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_words),
		cmocka_unit_test(files_by_thread),
		cmocka_unit_test(files_by_process),
		cmocka_unit_test(numbers_vms_as_they_come),
		cmocka_unit_test(divides_vms_by_memory_categories),
		cmocka_unit_test(counts_memory_categories_among_the_thousand),
		cmocka_unit_test(stops_counting_vms_at_a_thousand),
		cmocka_unit_test(files_by_chunk),
	};

	return cmocka_run_group_tests_name("category", tests, NULL, NULL);
}
