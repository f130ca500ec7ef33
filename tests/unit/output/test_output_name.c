/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files are named after processes, which may call themselves anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "output/output_name.h"

static const char *of_process(const char *name, pid_t pid)
{
	static char to[OUTPUT_NAME_SIZE];

	output_name__make_dateless(name, pid, ".json", to);
	return to;
}

static const char *of_group(const char *name)
{
	static char to[OUTPUT_NAME_SIZE];

	output_name__make_of_group(name, ".json", to);
	return to;
}

static void names_a_process_and_a_group(void **state)
{
	(void)state;
	assert_string_equal(of_process("lua5.4", 42), "lua5.4-42.json");
	assert_string_equal(of_group("lua5.4"), "lua5.4.json");
	assert_string_equal(of_group("/system.slice/nginx.service"),
			    "system.slice_nginx.service.json");
	assert_string_equal(of_group("/"), "group.json");
	assert_string_equal(of_group("(unknown user)"), "_unknown_user_.json");
}

/*
 * No name leads out of the folder, is hidden, looks like an option, or contains what a terminal or
 * a shell would interpret.
 */
static void any_name_is_a_plain_one(void **state)
{
	static const char *const names[] = {"..",
					    "../../etc/x",
					    "/etc/passwd",
					    "a\nb",
					    "\033[2J\177",
					    "\xff\xfe",
					    "$(reboot)",
					    "",
					    ".",
					    "....//",
					    "/../..",
					    "*?;&|<>",
					    "-rf",
					    "--help",
					    "-",
					    "/-o",
					    "\u200f\u202e-"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (int is_group = 0; is_group < 2; is_group++) {
			const char *made = is_group ? of_group(names[i]) : of_process(names[i], 7);

			assert_int_equal(strspn(made, "abcdefghijklmnopqrstuvwxyz"
						      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
					 strlen(made));
			assert_int_not_equal(made[0], '.');
			assert_int_not_equal(made[0], '-');
			assert_string_equal(strrchr(made, '.'), ".json");
			assert_true(strlen(made) > strlen(".json"));
		}
}

/* A long path keeps its end, which tells most, and leaves room for a date and a number. */
static void a_long_name_is_cut(void **state)
{
	char path[600];

	(void)state;
	snprintf(path, sizeof(path), "/%0500d/session-7.scope", 0);
	assert_int_equal(strlen(of_group(path)), 64 + strlen(".json"));
	assert_non_null(strstr(of_group(path), "000_session-7.scope.json"));
	assert_int_equal(strlen(of_process(path, 4194304)), 31 + strlen("-4194304.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_process_and_a_group),
		cmocka_unit_test(any_name_is_a_plain_one),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests_name("output_name", tests, NULL, NULL);
}
