/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which names functions get: from callers, libraries and processes, text and bytecode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "functions_fixture.h"

static void shows_the_name_with_most_votes(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 3, 9, 0);

	vote(*state, id, "f", 2);
	vote(*state, id, "g", 3);
	assert_string_equal(shown(*state, id)->name, "g");
	vote(*state, id, "f", 2);
	assert_string_equal(shown(*state, id)->name, "f");
}

static void shows_the_first_name_among_equals(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 3, 9, 0);

	vote(*state, id, "first", 1);
	vote(*state, id, "second", 1);
	vote(*state, id, "third", 1);
	assert_string_equal(shown(*state, id)->name, "first");
}

static void votes_for_one_function_alone(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 3, 9, 0);
	uint32_t other = script_function(*state, "app.lua", 3, 9, 1);

	vote(*state, id, "f", 1);
	assert_null(shown(*state, other)->name);
}

static void shows_a_suggestion_only_where_nobody_voted(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 3, 9, 0);

	assert_int_equal(functions__suggest(*state, id, "suggested"), 0);
	assert_string_equal(shown(*state, id)->name, "suggested");
	vote(*state, id, "f", 1);
	assert_string_equal(shown(*state, id)->name, "f");
}

static void shows_what_all_callers_call_a_c_function_beside_its_place(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "lua+0x1000");

	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
	vote(*state, id, "f", 3);
	assert_string_equal(shown(*state, id)->name, "f (lua+0x1000)");
	vote(*state, id, "g", 1);
	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
}

static void tells_c_functions_apart_by_the_names_that_callers_have(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "lua+0x1000");
	uint32_t f = functions__called(*state, id, "f");
	uint32_t g = functions__called(*state, id, "g");

	assert_int_equal(functions__called(*state, id, "f"), f);
	assert_int_not_equal(f, g);
	vote(*state, id, "f", 3);
	assert_int_equal(shown(*state, f)->function, id);
	assert_string_equal(shown(*state, f)->name, "f (lua+0x1000)");
	vote(*state, id, "g", 1);
	assert_int_equal(shown(*state, f)->function, 0);
	assert_string_equal(shown(*state, f)->name, "f (lua+0x1000)");
	assert_string_equal(shown(*state, f)->source, "[C]");
	assert_string_equal(shown(*state, g)->name, "g (lua+0x1000)");
	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
}

/* A symbol is a name as long as callers give no reason to think that it is that of a trampoline. */
static void a_symbol_needs_no_name_that_callers_agree_on(void **state)
{
	const struct c_function_identity identity = {
		.file = 1, .place = 0x1000, .name = "call_method", .is_symbol = true};
	uint32_t id = functions__c(*state, &identity);
	uint32_t heal = functions__called(*state, id, "heal");

	vote(*state, id, "heal", 1);
	assert_string_equal(shown(*state, id)->name, "call_method");
	assert_string_equal(shown(*state, heal)->name, "call_method");
	vote(*state, id, "hurt", 1);
	assert_string_equal(shown(*state, id)->name, "call_method");
	assert_string_equal(shown(*state, heal)->name, "heal (call_method)");
}

static void shows_a_given_name_whatever_callers_have(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "lua+0x1000");
	uint32_t f = functions__called(*state, id, "f");

	vote(*state, id, "f", 1);
	vote(*state, id, "g", 1);
	assert_int_equal(functions__rename_c(*state, id, "string.rep", true), 0);
	assert_string_equal(shown(*state, f)->name, "string.rep");
	assert_int_equal(shown(*state, f)->function, id);
}

static void calls_iterators_by_what_their_makers_have_in_common(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "lua+0x1000");

	vote(*state, id, "iterator of gmatch", 3);
	assert_string_equal(shown(*state, id)->name, "iterator of gmatch (lua+0x1000)");
	vote(*state, id, "for iterator", 5);
	assert_string_equal(shown(*state, id)->name, "iterator of gmatch (lua+0x1000)");
	vote(*state, id, "iterator of words", 1);
	assert_string_equal(shown(*state, id)->name, "for iterator (lua+0x1000)");
	vote(*state, id, "f", 1);
	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
}

/* One process may have seen something else in the place of a name before it ended. */
static void shows_a_suggestion_beside_a_place_only_where_nobody_voted(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "lua+0x1000");

	assert_int_equal(functions__suggest(*state, id, "suggested"), 0);
	assert_string_equal(shown(*state, id)->name, "suggested (lua+0x1000)");
	assert_int_equal(functions__suggest(*state, id, "otherwise"), 0);
	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
	vote(*state, id, "f", 1);
	assert_string_equal(shown(*state, id)->name, "f (lua+0x1000)");
	vote(*state, id, "otherwise", 1);
	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
}

static void prefers_a_given_name_to_any_votes(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 0, 0, 0);
	char name[] = "main chunk";

	vote(*state, id, "require", 5);
	assert_int_equal(functions__rename(*state, id, name), 0);
	name[0] = 'X';
	vote(*state, id, "dofile", 50);
	assert_string_equal(shown(*state, id)->name, "main chunk");
}

static void shows_the_latest_given_name(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 0, 0, 0);

	assert_int_equal(functions__rename(*state, id, "main chunk"), 0);
	assert_string_equal(shown(*state, id)->name, "main chunk");
	assert_int_equal(functions__rename(*state, id, "job"), 0);
	assert_string_equal(shown(*state, id)->name, "job");
}

static void assert_renamed(void **state, uint32_t id, const char *name, bool is_given,
			   const char *expected)
{
	assert_int_equal(functions__rename_c(*state, id, name, is_given), 0);
	assert_string_equal(shown(*state, id)->name, expected);
}

static void takes_a_name_that_is_found_later(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "a.so+0x1000");

	assert_renamed(state, id, "a.so+0x1000", false, "a.so+0x1000");
	assert_renamed(state, id, "kept", false, "kept");
	assert_renamed(state, id, "a.so+0x1000", false, "kept");
	assert_renamed(state, id, "a.f", true, "a.f");
	assert_renamed(state, id, "kept", false, "a.f");
	assert_renamed(state, id, "a.f", true, "a.f");
}

static void takes_no_later_name_that_processes_differ_in(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "a.so+0x1000");

	assert_renamed(state, id, "kept", false, "kept");
	assert_renamed(state, id, "kept otherwise", false, "a.so+0x1000");
	assert_renamed(state, id, "kept", false, "a.so+0x1000");
	assert_renamed(state, id, "a.f", true, "a.f");
	assert_renamed(state, id, "b.f", true, "a.so+0x1000");
	assert_renamed(state, id, "a.f", true, "a.so+0x1000");
}

/* A name with more than an eighth of the votes wins, however many other names there are. */
static void elects_among_more_names_than_it_keeps(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 3, 9, 0);
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		vote(*state, id, i % 5 ? name : "often", 1);
	}
	assert_string_equal(shown(*state, id)->name, "often");
}

static void gives_machine_code_the_name_of_its_definition(void **state)
{
	struct functions *functions = *state;
	uint32_t function = script_function(functions, "a.lua", 1, 5, 7);

	assert_int_equal(functions__rename(functions, function, "defined"), 0);
	assert_string_equal(shown(functions, functions__native(functions, function))->name,
			    "defined");
}

static void text_names_before_bytecode_and_that_before_callers(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 1, 2, 0);

	vote(*state, id, "called", 9);
	assert_int_equal(functions__infer(*state, id, "M:f"), 0);
	assert_string_equal(shown(*state, id)->name, "M:f");
	assert_true(functions__is_defined(*state, id));
	assert_true(functions__awaits_definition(*state, id, 1));
	assert_int_equal(functions__define(*state, id, 1, "M.f"), 0);
	assert_int_equal(functions__infer(*state, id, "M:f"), 0);
	assert_string_equal(shown(*state, id)->name, "M.f");
}

/* The text is of other code then: a file of the same name, or of another release. */
static void bytecode_overrules_a_text_that_has_another_name(void **state)
{
	uint32_t before = script_function(*state, "app.lua", 1, 2, 0);
	uint32_t after = script_function(*state, "app.lua", 3, 4, 0);

	assert_int_equal(functions__define(*state, before, 1, "M.wrong"), 0);
	assert_int_equal(functions__infer(*state, before, "M.right"), 0);
	assert_string_equal(shown(*state, before)->name, "M.right");
	assert_int_equal(functions__infer(*state, after, "M.right"), 0);
	assert_int_equal(functions__define(*state, after, 1, "M.wrong"), 0);
	assert_string_equal(shown(*state, after)->name, "M.right");
	assert_true(functions__is_defined(*state, after));
	assert_false(functions__is_in_text(*state, before) || functions__is_in_text(*state, after));
}

static void callers_do_not_name_what_bytecode_has_two_names_for(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 1, 2, 0);

	assert_int_equal(functions__infer(*state, id, "old"), 0);
	assert_string_equal(shown(*state, id)->name, "old");
	assert_int_equal(functions__infer(*state, id, "new"), 0);
	assert_null(shown(*state, id)->name);
	vote(*state, id, "called", 1);
	assert_int_equal(functions__infer(*state, id, "old"), 0);
	assert_null(shown(*state, id)->name);
	assert_false(functions__is_defined(*state, id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(gives_machine_code_the_name_of_its_definition),
		fixed(text_names_before_bytecode_and_that_before_callers),
		fixed(bytecode_overrules_a_text_that_has_another_name),
		fixed(callers_do_not_name_what_bytecode_has_two_names_for),
		fixed(shows_the_name_with_most_votes),
		fixed(shows_the_first_name_among_equals),
		fixed(votes_for_one_function_alone),
		fixed(shows_a_suggestion_only_where_nobody_voted),
		fixed(shows_what_all_callers_call_a_c_function_beside_its_place),
		fixed(tells_c_functions_apart_by_the_names_that_callers_have),
		fixed(a_symbol_needs_no_name_that_callers_agree_on),
		fixed(shows_a_given_name_whatever_callers_have),
		fixed(calls_iterators_by_what_their_makers_have_in_common),
		fixed(shows_a_suggestion_beside_a_place_only_where_nobody_voted),
		fixed(prefers_a_given_name_to_any_votes),
		fixed(shows_the_latest_given_name),
		fixed(takes_a_name_that_is_found_later),
		fixed(takes_no_later_name_that_processes_differ_in),
		fixed(elects_among_more_names_than_it_keeps),
	};

	return cmocka_run_group_tests_name("function names", tests, NULL, NULL);
}
