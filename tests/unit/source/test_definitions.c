/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that definitions in source text give to functions; tests/names compares them with those
 * of compilers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/definitions.h"

#define LINES_MAX 16

/* The names of the functions that begin and end on line 1, 2, ... of the text. */
struct example {
	const char *text;
	const char *names[LINES_MAX];
};

static struct definitions *find(const char *text)
{
	struct definitions *definitions;

	assert_int_equal(definitions__find(text, strlen(text), &definitions), 0);
	return definitions;
}

static void assert_names(const struct example *example)
{
	struct definitions *definitions = find(example->text);
	const char *at = example->text;

	for (uint32_t line = 1; at && line <= LINES_MAX; line++) {
		const char *name = definitions__name(definitions, line, line);
		const char *expected = example->names[line - 1];

		if ((name || expected) && (!name || !expected || strcmp(name, expected) != 0))
			fail_msg("'%s', not '%s', in line %u of:\n%s", name ? name : "none",
				 expected ? expected : "none", line, example->text);
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	definitions__free(definitions);
}

static void assert_all(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_names(&examples[i]);
}

#define assert_examples(examples) assert_all(examples, sizeof(examples) / sizeof((examples)[0]))

static void statements_name_their_functions(void **state)
{
	static const struct example examples[] = {
		{"function f() end", {"f"}},
		{"local function f() end", {"f"}},
		{"global function f() end", {"f"}},
		{"function M.a.b:c(x, ...) end", {"M.a.b:c"}},
		{"function M . a\n. b() end", {NULL, "M.a.b"}},
		{"function f<T, U...>(x: T): U end", {"f"}},
		{"@native function f() end", {"f"}},
		{"f() function g() end", {"g"}},
		{"x = y function g() end", {"g"}},
		{"do local function f() end end function g() end", {NULL}},
		{"if x then\nfunction f() end\nelseif y then\nfunction g() end\nelse\n"
		 "function h() end\nend\nfunction i() end",
		 {NULL, "f", NULL, "g", NULL, "h", NULL, "i"}},
		{"repeat\nfunction f() end\nuntil f()\nfunction g() end", {NULL, "f", NULL, "g"}},
		{"while x do\nfunction f() end\nend\nfor i = 1, 2 do\nfunction g() end\nend\n"
		 "for k in pairs(x) do\nfunction h() end\nend",
		 {NULL, "f", NULL, NULL, "g", NULL, NULL, "h"}},
		{"goto done\n::done:: function f() end", {NULL, "f"}},
		{"::l:: x = function() end", {"x"}},
		{"return function() end", {NULL}},
	};

	(void)state;
	assert_examples(examples);
}

static void assignments_name_their_values(void **state)
{
	static const struct example examples[] = {
		{"x = function() end", {"x"}},
		{"local x = function() end", {"x"}},
		{"local x <const> = function() end", {"x"}},
		{"local x <const>, y <close> =\nfunction() end,\nfunction() end", {NULL, "x", "y"}},
		{"local x: (number) -> {y: string} = function() end", {"x"}},
		{"global x <const> = function() end", {"x"}},
		{"M.run = function() end", {"M.run"}},
		{"t['k'] = function() end", {"t.k"}},
		{"t['a b'] = function() end", {"t[\"a b\"]"}},
		{"t[1] = function() end", {"t[1]"}},
		{"t[i].x = function() end", {"t[i].x"}},
		{"t[i + 1] = function() end", {NULL}},
		{"t[i + 1].x = function() end", {"x"}},
		{"t['\\n'] = function() end", {NULL}},
		{"f().x = function() end", {"x"}},
		{"f{}.x = function() end", {"x"}},
		{"f'y'.x = function() end", {"x"}},
		{"(f or g).x = function() end", {"x"}},
		{"a:b().x = function() end", {"x"}},
		{"x, y =\n1,\nfunction() end", {NULL, NULL, "y"}},
		{"x, y = function() end", {"x"}},
		{"x = 1,\nfunction() end", {NULL, NULL}},
		{"x = f(function() end)", {NULL}},
		{"x = (function() end)()", {NULL}},
		{"x = x or function() end", {"x"}},
		{"x = x and function() end", {"x"}},
		{"x = y == z and function() end or\nfunction() end", {"x", "x"}},
		{"x = function() end and y", {NULL}},
		{"x = function() end == y", {NULL}},
		{"x = y .. function() end", {NULL}},
		{"x = #function() end", {NULL}},
		{"x += function() end", {NULL}},
		{"x = 1 y = function() end", {"y"}},
		{"x = 1; y = function() end", {"y"}},
		{"x = f()\ny = function() end", {NULL, "y"}},
		{"for i = function() end, 1 do end", {NULL}},
		{"for i = 1, 2 do x = function() end end", {"x"}},
	};

	(void)state;
	assert_examples(examples);
}

/* A parenthesis calls what can be called; behind a literal, it begins a statement. */
static void parentheses_begin_statements_behind_literals(void **state)
{
	static const struct example examples[] = {
		{"local a = function() end\n(M).b = function() end", {"a", "b"}},
		{"local a = 1\n(M).b = function() end", {NULL, "b"}},
		{"local a = nil (M).b = function() end", {"b"}},
		{"local a = ... (M).b = function() end", {"b"}},
		{"local a = {}\n(f(a) or a).b = function() end", {NULL, "b"}},
		{"local a = 'text'\n(M).b = function() end", {NULL, "b"}},
		{"local a, c\n(M).b = function() end", {NULL, "b"}},
		{"local a <const>, c <close>\n(M).b = function() end", {NULL, "b"}},
		{"local a = f 'text'\n(M)(function() end)", {NULL}},
		{"local a = f {}\n(function() end)", {NULL}},
		{"local a = f[1]\n(function() end)", {NULL}},
		{"local a: typeof(f) = function() end", {"a"}},
	};

	(void)state;
	assert_examples(examples);
}

static void tables_name_their_fields(void **state)
{
	static const struct example examples[] = {
		{"M = { run = function() end }", {"M.run"}},
		{"M = {\na = { b = function() end },\n['c'] = function() end;\n[1] = function() end,\n"
		 "function() end,\nd = x or function() end }",
		 {NULL, "M.a.b", "M.c", "M[1]", NULL, "M.d"}},
		{"return { run = function() end }", {"run"}},
		{"setmetatable(M, { __index = function() end })", {"__index"}},
		{"M = f{ run = function() end }", {"run"}},
		{"M = x and { run = function() end }", {"M.run"}},
		{"M = { [k] = function() end }", {"M[k]"}},
		{"f{ [k] = function() end }", {NULL}},
		{"M = { a < b,\nx = function() end }", {NULL, "M.x"}},
		{"M = { f(function() end) }", {NULL}},
		{"M = { x = f(function() end) }", {NULL}},
	};

	(void)state;
	assert_examples(examples);
}

static void text_is_no_code(void **state)
{
	static const struct example examples[] = {
		{"local a = 0xFE--don't\nf = function() end", {NULL, "f"}},
		{"local a = 1e-5 + 0x1p-3 - 0XAE+1\nf = function() end", {NULL, "f"}},
		{"-- function f() end\nfunction g() end", {NULL, "g"}},
		{"--[[ function f() end\n]] function g() end", {NULL, "g"}},
		{"--[==[\n]]\n]==] function g() end", {NULL, NULL, "g"}},
		{"x = [[\nfunction f() end\n]] function g() end", {NULL, NULL, "g"}},
		{"x = 'function f() end' function g() end", {"g"}},
		{"x = '\\'' function g() end", {"g"}},
		{"x = 'a\\\nb' function g() end", {NULL, "g"}},
		{"x = 'a\\z\n \n b' function g() end", {NULL, NULL, "g"}},
		{"x = `{y}\n` function g() end", {NULL, "g"}},
		{"#!/usr/bin/lua function f() end\nfunction g() end", {NULL, "g"}},
		{"\xEF\xBB\xBF#!/usr/bin/lua\nfunction g() end", {NULL, "g"}},
		{"x = a // 2 function g() end", {"g"}},
		{"x = 0x1p-2 y = 1e+5 function g() end", {"g"}},
		{"x = .5 function g() end", {"g"}},
		{"x = y[1]function g() end", {"g"}},
		{"function \xc3\xa9() end", {"\xc3\xa9"}},
	};

	(void)state;
	assert_examples(examples);
}

static void lines_end_as_compilers_count_them(void **state)
{
	struct definitions *definitions = find("\r\n\n\r\rfunction f()\r\n\r\nend");

	(void)state;
	assert_string_equal(definitions__name(definitions, 4, 6), "f");
	definitions__free(definitions);
}

/* PUC Lua's first line of a local function or of an expression is that of the parenthesis. */
static void either_first_line_will_do(void **state)
{
	struct definitions *definitions = find("local function\nf\n()\nend");

	(void)state;
	assert_string_equal(definitions__name(definitions, 1, 4), "f");
	assert_string_equal(definitions__name(definitions, 3, 4), "f");
	assert_null(definitions__name(definitions, 2, 4));
	assert_null(definitions__name(definitions, 1, 3));
	definitions__free(definitions);
}

static void functions_of_the_same_lines_have_no_name(void **state)
{
	static const struct example examples[] = {
		{"function f() end function g() end", {NULL}},
		{"function f() return function() end end", {NULL}},
	};

	(void)state;
	assert_examples(examples);
}

static void text_that_is_not_lua_has_no_definitions(void **state)
{
	static const char *const texts[] = {
		"function f()",
		"end",
		"x = 'a",
		"--[[",
		"x = {",
		"f(]",
		"function 1() end",
		"x = 'a\nb'",
		"until",
		"}",
		"(",
		"repeat function f() end",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct definitions *definitions;

		if (definitions__find(texts[i], strlen(texts[i]), &definitions) != -EINVAL)
			fail_msg("accepted: %s", texts[i]);
		assert_null(definitions);
	}
}

static char *repeated(const char *text, size_t times)
{
	size_t length = strlen(text);
	char *all = malloc(length * times + 1);

	assert_non_null(all);
	for (size_t i = 0; i < times; i++)
		memcpy(all + i * length, text, length);
	all[length * times] = '\0';
	return all;
}

static void nesting_is_bounded(void **state)
{
	static const char *const texts[] = {
		"(", "{", "[ ", "do ", "if x then ", "x={y=function()", "x[", "x={y="};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct definitions *definitions;
		char *text = repeated(texts[i], 100000);

		assert_int_equal(definitions__find(text, strlen(text), &definitions), -E2BIG);
		free(text);
	}
}

static void long_names_are_none(void **state)
{
	char *name = repeated("a.", 200);
	struct definitions *definitions;
	char text[500];

	(void)state;
	snprintf(text, sizeof(text), "%sb = function() end", name);
	definitions = find(text);
	assert_null(definitions__name(definitions, 1, 1));
	definitions__free(definitions);
	snprintf(text, sizeof(text), "%.200sb = function() end", name);
	definitions = find(text);
	assert_int_equal(strlen(definitions__name(definitions, 1, 1)), 201);
	definitions__free(definitions);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_name_their_functions),
		cmocka_unit_test(assignments_name_their_values),
		cmocka_unit_test(parentheses_begin_statements_behind_literals),
		cmocka_unit_test(tables_name_their_fields),
		cmocka_unit_test(text_is_no_code),
		cmocka_unit_test(lines_end_as_compilers_count_them),
		cmocka_unit_test(either_first_line_will_do),
		cmocka_unit_test(functions_of_the_same_lines_have_no_name),
		cmocka_unit_test(text_that_is_not_lua_has_no_definitions),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(long_names_are_none),
	};

	return cmocka_run_group_tests_name("definitions", tests, NULL, NULL);
}
