/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "symbols/chunk_name.h"
#include "record.h"
#include "skip.h"

/* The chunk has exactly the room that it needs, so that the sanitizer sees a read beyond it. */
static const char *show(const char *chunk, size_t length)
{
	static char shown[CHUNK_NAME_SIZE];
	char *copy = malloc(length ? length : 1);

	assert_non_null(copy);
	memcpy(copy, chunk, length);
	memset(shown, 'x', sizeof(shown));
	chunk_name__show(copy, length, shown);
	free(copy);
	return shown;
}

static void assert_shown(const char *chunk, const char *expected)
{
	assert_string_equal(show(chunk, strlen(chunk)), expected);
}

static void shows_files_and_names_without_their_mark(void **state)
{
	(void)state;
	assert_shown("@dir/app.lua", "dir/app.lua");
	assert_shown("=stdin", "stdin");
	assert_shown("=?", "?");
	assert_shown("@two\nlines", "two\nlines");
	assert_shown("@", "");
	assert_shown("=", "");
}

static void shows_a_string_in_brackets(void **state)
{
	(void)state;
	assert_shown("return 1", "[string \"return 1\"]");
	assert_shown("", "[string \"\"]");
}

static void shows_the_first_line_of_a_string(void **state)
{
	(void)state;
	assert_shown("return 1\nreturn 2", "[string \"return 1...\"]");
	assert_shown("return 1\n", "[string \"return 1...\"]");
	assert_shown("\nreturn 2", "[string \"...\"]");
}

/* Unlike Lua, luaspy does not cut off at 60 bytes, so that two files do not look like one. */
static void shows_file_names_whole(void **state)
{
	char chunk[LS_SOURCE_LEN];

	(void)state;
	memset(chunk, 'd', sizeof(chunk));
	chunk[sizeof(chunk) - 1] = '\0';
	for (const char *mark = "@="; *mark; mark++) {
		*chunk = *mark;
		assert_shown(chunk, chunk + 1);
	}
}

static void stays_within_its_room(void **state)
{
	char chunk[2 * CHUNK_NAME_SIZE];

	(void)state;
	for (const char *mark = "@=x"; *mark; mark++) {
		memset(chunk, 'd', sizeof(chunk));
		*chunk = *mark;
		for (size_t length = 0; length <= sizeof(chunk); length++)
			assert_in_range(strlen(show(chunk, length)), 0, CHUNK_NAME_SIZE - 1);
	}
}

/*
 * What lua5.4 makes of strings of every length around its limit, without and with a second line,
 * and of names that it does not cut off: a line with the chunk's name in hex, one with short_src.
 */
static const char script[] =
	"local function try(s)"
	"  local shown = debug.getinfo(load('return 1', s), 'S').short_src "
	"  print((s:gsub('.', function(c) return string.format('%02x', c:byte()) end)))"
	"  print(shown) "
	"end "
	"for n = 0, 70 do"
	"  local s = string.rep('abcdefghij', 7):sub(1, n)"
	"  try(s) try(s .. '\\n') try(s .. '\\nmore') try('\\n' .. s) try(s .. '\\r')"
	"  if n < 60 then try('@' .. s) try('=' .. s) end "
	"end";

static size_t decode_hex(const char *hex, char *to, size_t size)
{
	size_t length = 0;
	unsigned int byte;

	for (; length < size && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		to[length++] = (char)byte;
	return length;
}

/* None of these is shown with a newline: a line of output is a name. */
static void shows_what_lua_shows(void **state)
{
	char command[2048], hex[512], chunk[256], expected[256];
	int count = 0;
	FILE *lua;

	(void)state;
	need_program("lua5.4", "lua5.4");
	snprintf(command, sizeof(command), "exec lua5.4 - <<'END'\n%s\nEND\n", script);
	lua = popen(command, "r");
	assert_non_null(lua);
	while (fgets(hex, sizeof(hex), lua) && fgets(expected, sizeof(expected), lua)) {
		size_t length = decode_hex(hex, chunk, sizeof(chunk));

		expected[strcspn(expected, "\n")] = '\0';
		assert_string_equal(show(chunk, length), expected);
		count++;
	}
	assert_int_equal(pclose(lua), 0);
	assert_int_equal(count, 71 * 5 + 60 * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_files_and_names_without_their_mark),
		cmocka_unit_test(shows_a_string_in_brackets),
		cmocka_unit_test(shows_the_first_line_of_a_string),
		cmocka_unit_test(shows_file_names_whole),
		cmocka_unit_test(stays_within_its_room),
		cmocka_unit_test(shows_what_lua_shows),
	};

	return cmocka_run_group_tests_name("chunk_name", tests, NULL, NULL);
}
