/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "interpreter/family.h"

static size_t count_layouts(void)
{
	size_t count = 0;

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		for (uint32_t slot = 0; families__get(id)->offsets(slot); slot++)
			count++;
	return count;
}

/* The list is cut off where its room ends. */
static void list_all_their_layouts(void **state)
{
	char list[LAYOUT_LIST_SIZE], *at = list, *name;
	size_t count = 0;

	(void)state;
	layout__list(list, "\n");
	for (; (name = strsep(&at, "\n")); count++)
		if (layout__find(name, NULL))
			fail_msg("'%s' is no layout", name);
	assert_int_equal(count, count_layouts());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_all_their_layouts),
	};

	return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
