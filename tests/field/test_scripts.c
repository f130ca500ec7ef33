/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that run a script of the user's: typesetters, editors, build tools, solvers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "field.h"

/* Of a program that does nothing else; `stack`: what is above work(). */
static void check_script(struct stage *stage, const struct child *program, const char *source,
			 const char *stack)
{
	struct scriptprofile *profile;

	stage__await_file(stage, program, "up");
	profile = field__record(stage, program, source);
	require_of(profile, scriptprofile__stack_us(profile, stack) * 100 > profile->all_us * 97);
	require_of(profile, field__has_c_function(profile, "string.byte"));
	require_of(profile, field__has_c_function(profile, "string.rep"));
	require_of(profile, field__host_percent(profile) <= 2);
}

static void shows_a_script_of_texlua(void **state)
{
	need_to_record();
	need_program("texlua", "texlive-binaries");
	field__write(*state, "x.lua", FIELD_SCRIPT);
	check_script(*state, start(*state, "texlua", "x.lua"), "*x.lua", "^main chunk > work");
}

/* premake has its own dofile(), in Lua, and keeps the one of C in a local. */
static void shows_a_build_script_of_premake(void **state)
{
	need_to_record();
	need_program("premake4", "premake4");
	field__write(*state, "x.lua", FIELD_SCRIPT);
	check_script(*state, start(*state, "premake4", "--file=x.lua", "gmake"), "*x.lua",
		     "^_premake_main > dofile > builtin_dofile (*) > main chunk > work");
}

static void shows_a_configuration_of_imapfilter(void **state)
{
	need_to_record();
	need_program("imapfilter", "imapfilter");
	field__write(*state, "x.lua", FIELD_SCRIPT);
	check_script(*state, start(*state, "imapfilter", "-c", "x.lua"), "*x.lua",
		     "^main chunk > work");
}

static const char filter[] =
	FIELD_WORK "function Pandoc(document)\n" FIELD_UP
		   "	while true do document:walk{Str = function(s) work() return s end} end\n"
		   "end\n";

static void shows_a_filter_of_pandoc_that_haskell_calls(void **state)
{
	struct child *pandoc;
	struct scriptprofile *profile;

	need_to_record();
	want_program("pandoc", "pandoc", "173 MB");
	field__write(*state, "x.md", "one *two* three\n");
	field__write(*state, "x.lua", filter);
	pandoc = start(*state, "pandoc", "--lua-filter", "x.lua", "x.md", "-t", "html");
	stage__await_file(*state, pandoc, "up");
	profile = field__record(*state, pandoc, "*x.lua");
	require_of(profile, field__has_stack(profile, "^Pandoc > * > * > * > work > hot"));
}

static void shows_what_an_answer_set_program_calls(void **state)
{
	need_to_record();
	want_program("clingo", "gringo", "11 MB");
	field__write(*state, "x.lp",
		     "#script(lua)" FIELD_WORK "function main(program) " FIELD_UP
		     "while true do work() end end\n#end.\n");
	check_script(*state, start(*state, "clingo", "x.lp"), "?string*x.lp*",
		     "^clingo* > main > work");
}

static void shows_a_chunk_of_vim(void **state)
{
	need_to_record();
	want_program("vim.nox", "vim-nox", "33 MB");
	field__write(*state, "x.lua", FIELD_SCRIPT);
	check_script(*state,
		     start(*state, "vim.nox", "-es", "-u", "NONE", "-c", "lua dofile('x.lua')"),
		     "*x.lua", "^main chunk > dofile > main chunk > work");
}

static void shows_a_macro_of_rpm(void **state)
{
	need_to_record();
	want_program("rpm", "rpm", "13 MB");
	field__write(*state, "x.lua", FIELD_SCRIPT);
	check_script(*state, start(*state, "rpm", "--eval", "%{lua: dofile('x.lua')}"), "*x.lua",
		     "^main chunk > dofile > main chunk > work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_a_script_of_texlua),
		staged(shows_a_build_script_of_premake),
		staged(shows_a_configuration_of_imapfilter),
		staged(shows_a_filter_of_pandoc_that_haskell_calls),
		staged(shows_what_an_answer_set_program_calls),
		staged(shows_a_chunk_of_vim),
		staged(shows_a_macro_of_rpm),
	};

	return cmocka_run_group_tests_name("scripts", tests, NULL, NULL);
}
