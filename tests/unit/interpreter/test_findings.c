/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "interpreter/findings.h"

static void find_something(struct findings *findings)
{
	findings->counts.with_lua = 2;
	findings->counts.without_evidence = 1;
	findings->counts.decided[LS_FAMILY_PUC][3] = 2;
	findings->counts.provisional[LS_FAMILY_PUC][LS_LAYOUT_MAX - 1] = 1;
	text_list__add(&findings->interpreters, "Lua 5.4.4 in /usr/bin/lua5.4");
	text_list__add(&findings->interpreters, "Lua 5.1.5 in /opt/game");
	text_list__add(&findings->gcs, "luaC_step");
	findings->gcs.left_out = 7;
	text_list__add(&findings->unknown_gcs, "the file has no unwind tables");
	findings->unknown_gcs.left_out = 2;
	snprintf(findings->layout, sizeof(findings->layout), "5.4, decided by 12 samples");
}

static void are_kept_as_they_are(void **state)
{
	struct findings findings = {}, again;
	struct kept_findings *kept;

	(void)state;
	find_something(&findings);
	kept = findings__keep(&findings);
	assert_non_null(kept);
	memset(&again, 0xff, sizeof(again));
	findings__recall(kept, &again);
	assert_memory_equal(&again, &findings, sizeof(again));
	free(kept);
}

/* If processes have files of their own, luaspy keeps the findings of each that has ended. */
static void are_kept_in_little_room(void **state)
{
	struct findings findings = {};
	struct kept_findings *kept;

	(void)state;
	find_something(&findings);
	kept = findings__keep(&findings);
	assert_non_null(kept);
	assert_in_range(malloc_usable_size(kept), 1, 512);
	free(kept);
}

static void of_full_lists_are_kept_whole(void **state)
{
	struct findings findings = {}, again;
	struct kept_findings *kept;
	char text[64];

	(void)state;
	for (int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "interpreter %d", i);
		text_list__add(&findings.interpreters, text);
	}
	memset(findings.layout, 'x', sizeof(findings.layout) - 1);
	assert_in_range(findings.interpreters.left_out, 1, 199);
	kept = findings__keep(&findings);
	assert_non_null(kept);
	findings__recall(kept, &again);
	assert_memory_equal(&again, &findings, sizeof(again));
	free(kept);
}

static void are_none_where_none_were_kept(void **state)
{
	struct findings none = {}, again;

	(void)state;
	memset(&again, 0xff, sizeof(again));
	findings__recall(NULL, &again);
	assert_memory_equal(&again, &none, sizeof(again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_kept_as_they_are),
		cmocka_unit_test(are_kept_in_little_room),
		cmocka_unit_test(of_full_lists_are_kept_whole),
		cmocka_unit_test(are_none_where_none_were_kept),
	};

	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
