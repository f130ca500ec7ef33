/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout_puc.h"
#include "verdict.h"
#include "walk_error.h"

static void add_evidence(struct verdict *verdict, uint8_t layout, uint16_t others, int times)
{
	struct ls_sample sample = {.layout = layout, .verified = 1, .other_layouts = others};

	while (times-- > 0)
		verdict__add(verdict, &sample);
}

static void add_misfits(struct verdict *verdict, uint8_t error, int times)
{
	struct ls_sample sample = {.error = error};

	while (times-- > 0)
		verdict__add(verdict, &sample);
}

static void assert_described(const struct verdict *verdict, const char *expected)
{
	char text[256];

	verdict__describe(verdict, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void is_undecided_without_script(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_misfits(&verdict, LS_WALK_NO_SCRIPT, 100);
	assert_int_equal(verdict.has_evidence, 0);
	assert_int_equal(verdict.misfits, 0);
	assert_described(&verdict, "undecided: no sample had script on its stack");
}

static void decides_after_eight(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_evidence(&verdict, 2, 0, 7);
	assert_int_equal(verdict.is_decided, 0);
	assert_int_equal(verdict.has_evidence, 1);
	assert_int_equal(verdict.layout, 2);
	assert_described(&verdict, "5.2.1-5.2.4, provisionally, by 7 of 7 samples");
	add_evidence(&verdict, 2, 0, 1);
	assert_int_equal(verdict.is_decided, 1);
	assert_described(&verdict, "5.2.1-5.2.4, agreed on by 8 of 8 samples");
}

static void stays_with_what_it_decided(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_evidence(&verdict, 2, 0, 8);
	add_evidence(&verdict, 1, 0, 100);
	add_misfits(&verdict, LS_WALK_UNDECIDED, 100);
	assert_int_equal(verdict.layout, 2);
	assert_int_equal(verdict.is_contradicted, 0);
	assert_described(&verdict, "5.2.1-5.2.4, agreed on by 8 of 8 samples");
}

static void counts_only_stacks_that_fitted_nothing_as_misfits(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_misfits(&verdict, LS_WALK_UNDECIDED, 3);
	add_misfits(&verdict, LS_WALK_STACK_MEMORY, 5);
	add_evidence(&verdict, 0, 0, 8);
	assert_int_equal(verdict.misfits, 3);
	assert_int_equal(verdict.is_decided, 1);
	assert_described(&verdict, "5.1-5.1.5, agreed on by 8 of 11 samples");
}

static void takes_no_sample_that_is_not_verified_for_evidence(void **state)
{
	struct verdict verdict = {};
	struct ls_sample sample = {.layout = 2, .other_layouts = 1};

	(void)state;
	for (int i = 0; i < 20; i++)
		verdict__add(&verdict, &sample);
	assert_int_equal(verdict.has_evidence, 0);
	assert_int_equal(verdict.fits[0], 0);
	assert_int_equal(verdict.fits[2], 0);
}

static void never_decides_after_samples_that_disagree(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_evidence(&verdict, 3, 0, 7);
	add_evidence(&verdict, 4, 0, 1);
	assert_int_equal(verdict.is_contradicted, 1);
	add_evidence(&verdict, 3, 0, 1000);
	assert_int_equal(verdict.is_decided, 0);
	assert_described(&verdict, "5.3.0: 1007, 5.3.1: 1");
}

static void never_decides_where_one_sample_fits_two(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_evidence(&verdict, 3, 1 << 4 | 1 << 5, 1);
	assert_int_equal(verdict.is_contradicted, 1);
	add_evidence(&verdict, 3, 0, 20);
	assert_int_equal(verdict.is_decided, 0);
	assert_described(&verdict, "5.3.0: 21, 5.3.1: 1, 5.3.2-5.3.6: 1");
}

static void survives_numbers_of_layouts_that_do_not_exist(void **state)
{
	struct verdict verdict = {};

	(void)state;
	add_evidence(&verdict, 255, 0xffff, 3);
	assert_int_equal(verdict.fits[LS_LAYOUT_MAX - 1], 0);
	assert_int_equal(verdict.has_evidence, 0);
	assert_int_equal(verdict.is_decided, 0);
}

/* Every size with a buffer of just that size: the sanitizer sees a byte beyond it. */
static void describes_into_whatever_room_there_is(void **state)
{
	struct verdict verdicts[4] = {};

	(void)state;
	add_evidence(&verdicts[1], 0, 0, 3);
	add_evidence(&verdicts[2], 0, 0, 8);
	add_evidence(&verdicts[3], 0, 0xffff, 1);
	for (size_t i = 0; i < LS_LAYOUT_MAX; i++)
		verdicts[3].fits[i] = UINT64_MAX;
	for (size_t i = 0; i < 4; i++) {
		char whole[1024];

		verdict__describe(&verdicts[i], whole, sizeof(whole));
		assert_in_range(strlen(whole), 1, sizeof(whole) - 2);
		for (size_t size = 1; size <= strlen(whole) + 1; size++) {
			char *text = malloc(size);

			assert_non_null(text);
			memset(text, 'x', size);
			verdict__describe(&verdicts[i], text, size);
			assert_int_equal(strnlen(text, size), size - 1);
			assert_memory_equal(text, whole, size - 1);
			free(text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_undecided_without_script),
		cmocka_unit_test(decides_after_eight),
		cmocka_unit_test(stays_with_what_it_decided),
		cmocka_unit_test(counts_only_stacks_that_fitted_nothing_as_misfits),
		cmocka_unit_test(takes_no_sample_that_is_not_verified_for_evidence),
		cmocka_unit_test(never_decides_after_samples_that_disagree),
		cmocka_unit_test(never_decides_where_one_sample_fits_two),
		cmocka_unit_test(survives_numbers_of_layouts_that_do_not_exist),
		cmocka_unit_test(describes_into_whatever_room_there_is),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
