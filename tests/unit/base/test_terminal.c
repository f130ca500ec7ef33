/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>
#include <locale.h>
#include <sys/ioctl.h>

#include "base/terminal.h"

static void decodes_utf8_by_its_length(void **state)
{
	uint32_t code_point = 0;

	(void)state;
	assert_int_equal(terminal__decode("a", &code_point), 1);
	assert_int_equal(code_point, 'a');
	assert_int_equal(terminal__decode("\u00e9x", &code_point), 2);
	assert_int_equal(code_point, 0xe9);
	assert_int_equal(terminal__decode("\u4e2d", &code_point), 3);
	assert_int_equal(code_point, 0x4e2d);
	assert_int_equal(terminal__decode("\U0010ffff", &code_point), 4);
	assert_int_equal(code_point, 0x10ffff);
}

static void decodes_nothing_that_is_not_utf8(void **state)
{
	static const char *const wrong[] = {"\x80",
					    "\xff",
					    "\xc0\xaf",
					    "\xe4\xb8",
					    "\xed\xbf\xbf",
					    "\xf0\x80\x80\x80",
					    "\xf4\x90\x80\x80"};
	uint32_t code_point = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(terminal__decode(wrong[i], &code_point), 0);
	assert_int_equal(code_point, 77);
}

static void assert_fit(const char *text, unsigned columns, size_t bytes, unsigned expected)
{
	unsigned taken = 77;

	assert_int_equal(terminal__fit(text, columns, &taken), bytes);
	assert_int_equal(taken, expected);
}

static void fits_wide_and_narrow_characters(void **state)
{
	(void)state;
	/* With and without a locale that has these characters. */
	for (int i = 0; i < 2; i++) {
		setlocale(LC_CTYPE, i ? "C.UTF-8" : "C");
		assert_fit("abc", 2, 2, 2);
		assert_fit("abc", 9, 3, 3);
		assert_fit("", 3, 0, 0);
		assert_fit("abc", 0, 0, 0);
		assert_fit("\u4e2d\u4e2d", 3, 3, 2);
		assert_fit("\u4e2d\u4e2d", 4, 6, 4);
		assert_fit("\u00e9\u00e9", 1, 2, 1);
	}
	assert_int_equal(terminal__fit("abc", 2, NULL), 2);
	/* A combining accent takes no column of its own. */
	assert_fit("e\u0301", 1, 3, 1);
	setlocale(LC_CTYPE, "C");
}

static void asks_terminals_for_their_width(void **state)
{
	struct winsize size = {.ws_row = 24, .ws_col = 132};
	int master = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_WRONLY);

	(void)state;
	assert_return_code(master, 0);
	assert_return_code(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_int_equal(terminal__columns(master), 132);
	assert_int_equal(terminal__columns(null), 0);
	assert_int_equal(terminal__columns(-1), 0);
	close(master);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_utf8_by_its_length),
		cmocka_unit_test(decodes_nothing_that_is_not_utf8),
		cmocka_unit_test(fits_wide_and_narrow_characters),
		cmocka_unit_test(asks_terminals_for_their_width),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
