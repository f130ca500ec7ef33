/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/functions.h"

static int make_functions(void **state)
{
	*state = functions__new();
	return *state ? 0 : -1;
}

static int free_functions(void **state)
{
	functions__free(*state);
	return 0;
}

static uint32_t script(struct functions *functions, const char *source, uint32_t line,
		       uint32_t last_line, uint64_t shape)
{
	struct function_identity identity = {source, line, last_line, shape};
	uint32_t id = functions__script(functions, &identity);

	assert_int_not_equal(id, 0);
	return id;
}

/* At a place in the memory of a program, or in a file. */
static uint32_t c_in(struct functions *functions, uint32_t program, uint64_t file, uint64_t place,
		     const char *name)
{
	struct c_function_identity identity = {file, place, program, name};
	uint32_t id = functions__c(functions, &identity);

	assert_int_not_equal(id, 0);
	return id;
}

static const struct ls_profile_function *shown(struct functions *functions, uint32_t id)
{
	static struct ls_profile profile;

	functions__export(functions, &profile);
	assert_in_range(id, 1, profile.function_count);
	return &profile.functions[id];
}

static void vote(struct functions *functions, uint32_t id, const char *name, int times)
{
	while (times-- > 0)
		assert_int_equal(functions__vote(functions, id, name), 0);
}

static void has_none_at_first(void **state)
{
	struct ls_profile profile = {.function_count = 7};

	functions__export(*state, &profile);
	assert_int_equal(profile.function_count, 0);
	functions__free(NULL);
}

static void knows_a_script_function_again(void **state)
{
	char source[] = "app.lua";
	uint32_t id = script(*state, source, 3, 9, 77);

	source[0] = 'X';
	assert_int_equal(script(*state, "app.lua", 3, 9, 77), id);
	assert_string_equal(shown(*state, id)->source, "app.lua");
	assert_int_equal(shown(*state, id)->line, 3);
	assert_null(shown(*state, id)->name);
}

static void tells_apart_by_source_lines_and_shape(void **state)
{
	uint32_t id = script(*state, "app.lua", 3, 9, 77);

	assert_int_not_equal(script(*state, "app.luac", 3, 9, 77), id);
	assert_int_not_equal(script(*state, "app.lu", 3, 9, 77), id);
	assert_int_not_equal(script(*state, "app.lua", 4, 9, 77), id);
	assert_int_not_equal(script(*state, "app.lua", 3, 8, 77), id);
	assert_int_not_equal(script(*state, "app.lua", 3, 9, 78), id);
	assert_int_not_equal(script(*state, "app.lua", 3, 9, 77ULL << 32), id);
}

static void counts_ids_from_one_without_a_gap(void **state)
{
	char source[16];

	for (uint32_t i = 1; i <= 1000; i++) {
		snprintf(source, sizeof(source), "%u.lua", i);
		assert_int_equal(script(*state, source, i, i, 0), i);
	}
	assert_string_equal(shown(*state, 1)->source, "1.lua");
	assert_string_equal(shown(*state, 1000)->source, "1000.lua");
	assert_int_equal(script(*state, "500.lua", 500, 500, 0), 500);
}

static void shows_the_name_with_most_votes(void **state)
{
	uint32_t id = script(*state, "app.lua", 3, 9, 0);

	vote(*state, id, "f", 2);
	vote(*state, id, "g", 3);
	assert_string_equal(shown(*state, id)->name, "g");
	vote(*state, id, "f", 2);
	assert_string_equal(shown(*state, id)->name, "f");
}

static void shows_the_first_name_among_equals(void **state)
{
	uint32_t id = script(*state, "app.lua", 3, 9, 0);

	vote(*state, id, "first", 1);
	vote(*state, id, "second", 1);
	vote(*state, id, "third", 1);
	assert_string_equal(shown(*state, id)->name, "first");
}

static void votes_for_one_function_alone(void **state)
{
	uint32_t id = script(*state, "app.lua", 3, 9, 0);
	uint32_t other = script(*state, "app.lua", 3, 9, 1);

	vote(*state, id, "f", 1);
	assert_null(shown(*state, other)->name);
}

static void shows_a_suggestion_only_where_nobody_voted(void **state)
{
	uint32_t id = script(*state, "app.lua", 3, 9, 0);

	assert_int_equal(functions__suggest(*state, id, "suggested"), 0);
	assert_string_equal(shown(*state, id)->name, "suggested");
	vote(*state, id, "f", 1);
	assert_string_equal(shown(*state, id)->name, "f");
}

static void shows_what_all_callers_call_a_c_function_beside_its_place(void **state)
{
	uint32_t id = c_in(*state, 0, 1, 0x1000, "lua+0x1000");

	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
	vote(*state, id, "f", 3);
	assert_string_equal(shown(*state, id)->name, "f (lua+0x1000)");
	vote(*state, id, "g", 1);
	assert_string_equal(shown(*state, id)->name, "lua+0x1000");
}

static void calls_iterators_by_what_their_makers_have_in_common(void **state)
{
	uint32_t id = c_in(*state, 0, 1, 0x1000, "lua+0x1000");

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
	uint32_t id = c_in(*state, 0, 1, 0x1000, "lua+0x1000");

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
	uint32_t id = script(*state, "app.lua", 0, 0, 0);
	char name[] = "main chunk";

	vote(*state, id, "require", 5);
	assert_int_equal(functions__rename(*state, id, name), 0);
	name[0] = 'X';
	vote(*state, id, "dofile", 50);
	assert_string_equal(shown(*state, id)->name, "main chunk");
}

static void shows_the_latest_given_name(void **state)
{
	uint32_t id = script(*state, "app.lua", 0, 0, 0);

	assert_int_equal(functions__rename(*state, id, "main chunk"), 0);
	assert_string_equal(shown(*state, id)->name, "main chunk");
	assert_int_equal(functions__rename(*state, id, "job"), 0);
	assert_string_equal(shown(*state, id)->name, "job");
}

static void knows_c_functions_by_file_and_place(void **state)
{
	char name[] = "print";
	uint32_t id = c_in(*state, 0, 1, 0x1000, name);

	name[0] = 'X';
	assert_int_equal(c_in(*state, 0, 1, 0x1000, "print"), id);
	assert_int_not_equal(c_in(*state, 0, 1, 0x1001, "print"), id);
	assert_int_not_equal(c_in(*state, 0, 2, 0x1000, "print"), id);
	assert_string_equal(shown(*state, id)->source, "[C]");
	assert_string_equal(shown(*state, id)->name, "print");
	assert_int_equal(shown(*state, id)->line, 0);
}

/* One program's "app.sleep" may be another's "socket.sleep". */
static void tells_c_functions_apart_by_what_processes_call_them(void **state)
{
	uint32_t id = c_in(*state, 0, 1, 0x1000, "socket.sleep");
	uint32_t other = c_in(*state, 0, 1, 0x1000, "app.sleep");

	assert_int_not_equal(other, id);
	assert_string_equal(shown(*state, id)->name, "socket.sleep");
	assert_string_equal(shown(*state, other)->name, "app.sleep");
}

static void knows_code_in_no_file_only_in_its_program(void **state)
{
	uint32_t one = functions__program(*state), other = functions__program(*state);
	uint32_t id = c_in(*state, one, 0, 0x1000, "0x1000");

	assert_int_not_equal(one, 0);
	assert_int_equal(c_in(*state, one, 7, 0x1000, "0x1000"), id);
	assert_int_not_equal(c_in(*state, other, 0, 0x1000, "0x1000"), id);
	assert_int_not_equal(c_in(*state, 0, 0, 0x1000, "0x1000"), id);
}

static void assert_renamed(void **state, uint32_t id, const char *name, bool is_given,
			   const char *expected)
{
	assert_int_equal(functions__rename_c(*state, id, name, is_given), 0);
	assert_string_equal(shown(*state, id)->name, expected);
}

static void takes_a_name_that_is_found_later(void **state)
{
	uint32_t id = c_in(*state, 0, 1, 0x1000, "a.so+0x1000");

	assert_renamed(state, id, "a.so+0x1000", false, "a.so+0x1000");
	assert_renamed(state, id, "kept", false, "kept");
	assert_renamed(state, id, "a.so+0x1000", false, "kept");
	assert_renamed(state, id, "a.f", true, "a.f");
	assert_renamed(state, id, "kept", false, "a.f");
	assert_renamed(state, id, "a.f", true, "a.f");
}

static void takes_no_later_name_that_processes_differ_in(void **state)
{
	uint32_t id = c_in(*state, 0, 1, 0x1000, "a.so+0x1000");

	assert_renamed(state, id, "kept", false, "kept");
	assert_renamed(state, id, "kept otherwise", false, "a.so+0x1000");
	assert_renamed(state, id, "kept", false, "a.so+0x1000");
	assert_renamed(state, id, "a.f", true, "a.f");
	assert_renamed(state, id, "b.f", true, "a.so+0x1000");
	assert_renamed(state, id, "a.f", true, "a.so+0x1000");
}

static void knows_pseudo_functions_by_name(void **state)
{
	char name[] = "(host)";
	uint32_t id = functions__pseudo(*state, name);

	name[1] = 'X';
	assert_int_equal(functions__pseudo(*state, "(host)"), id);
	assert_int_not_equal(functions__pseudo(*state, "(hos"), id);
	assert_string_equal(shown(*state, id)->name, "(host)");
	assert_null(shown(*state, id)->source);
}

static void mixes_up_no_kinds(void **state)
{
	uint32_t pseudo = functions__pseudo(*state, "");
	uint32_t in_c = c_in(*state, 0, 0, 0, "");
	uint32_t nowhere = script(*state, "", 0, 0, 0);

	assert_int_not_equal(pseudo, in_c);
	assert_int_not_equal(pseudo, nowhere);
	assert_int_not_equal(in_c, nowhere);
}

/* A name with more than an eighth of the votes wins, however many other names there are. */
static void elects_among_more_names_than_it_keeps(void **state)
{
	uint32_t id = script(*state, "app.lua", 3, 9, 0);
	char name[16];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		vote(*state, id, i % 5 ? name : "often", 1);
	}
	assert_string_equal(shown(*state, id)->name, "often");
}

static void evicts_what_is_not_used(void **state)
{
	uint8_t used[8] = {0};
	uint32_t pseudo = functions__pseudo(*state, "(host)");
	uint32_t a = script(*state, "a.lua", 1, 2, 3), b = script(*state, "b.lua", 1, 2, 3);
	uint32_t in_c = c_in(*state, 0, 1, 0x1000, "c"), again;

	vote(*state, a, "a", 1);
	vote(*state, in_c, "c", 1);
	assert_string_equal(shown(*state, in_c)->name, "c (c)");
	used[b] = 1;
	assert_int_equal(functions__evict(*state, used), 2);
	assert_int_equal(functions__evict(*state, used), 0);
	assert_int_equal(functions__count(*state), 2);
	assert_int_equal(functions__highest(*state), 4);
	assert_int_equal(functions__pseudo(*state, "(host)"), pseudo);
	assert_int_equal(script(*state, "b.lua", 1, 2, 3), b);
	/* Ids of others are taken again, but none of what they meant. */
	again = script(*state, "d.lua", 1, 2, 3);
	assert_true(again == a || again == in_c);
	assert_null(shown(*state, again)->name);
	assert_string_equal(shown(*state, again)->source, "d.lua");
	assert_int_not_equal(script(*state, "a.lua", 1, 2, 3), again);
	assert_int_equal(functions__highest(*state), 4);
}

static void keeps_lines_as_long_as_their_function(void **state)
{
	uint32_t f = script(*state, "a.lua", 3, 9, 1), g = script(*state, "b.lua", 3, 9, 1);
	uint8_t used[8] = {0};
	struct line_table *lines, *others;

	assert_int_equal(line_table__new((const int32_t[]){3, 4, 4, 7}, 4, &lines), 0);
	assert_int_equal(line_table__new((const int32_t[]){3, 5}, 2, &others), 0);
	assert_null(functions__lines(*state, f));
	functions__keep_lines(*state, f, lines);
	functions__keep_lines(*state, f, others);
	line_table__free(lines);
	line_table__free(others);
	assert_int_equal(line_table__line(functions__lines(*state, f), 1), 4);
	assert_int_equal(line_table__line(functions__lines(*state, f), 3), 7);
	assert_null(functions__lines(*state, g));
	used[g] = 1;
	assert_int_equal(functions__evict(*state, used), 1);
	assert_int_equal(script(*state, "c.lua", 3, 9, 1), f);
	assert_null(functions__lines(*state, f));
}

static void tells_a_function_apart_by_its_line(void **state)
{
	uint32_t f = script(*state, "a.lua", 3, 9, 1), g = script(*state, "a.lua", 11, 12, 1);
	uint32_t at = functions__at_line(*state, f, 4);

	assert_int_not_equal(at, 0);
	assert_int_not_equal(at, f);
	assert_int_equal(functions__at_line(*state, f, 4), at);
	assert_string_equal(functions__source(*state, f), "a.lua");
	assert_string_equal(functions__source(*state, at), "a.lua");
	assert_null(functions__source(*state, functions__pseudo(*state, "(host)")));
	assert_null(functions__source(*state, 0));
	assert_null(functions__source(*state, 1000));
	assert_int_not_equal(functions__at_line(*state, f, 5), at);
	assert_int_not_equal(functions__at_line(*state, g, 4), at);
	assert_int_equal(functions__at_line(*state, f, 0), f);
	vote(*state, f, "work", 1);
	assert_string_equal(shown(*state, at)->name, "work");
	assert_string_equal(shown(*state, at)->source, "a.lua");
	assert_int_equal(shown(*state, at)->line, 3);
	assert_int_equal(shown(*state, at)->current_line, 4);
	assert_int_equal(shown(*state, f)->current_line, 0);
}

static void keeps_a_function_while_one_of_its_lines_is_used(void **state)
{
	uint32_t f = script(*state, "a.lua", 3, 9, 1), g = script(*state, "b.lua", 3, 9, 1);
	uint32_t at = functions__at_line(*state, f, 4), unused = functions__at_line(*state, g, 5);
	uint8_t used[8] = {[4] = 0};

	assert_in_range(unused, 1, 7);
	used[at] = 1;
	vote(*state, f, "work", 1);
	shown(*state, at);
	assert_int_equal(functions__evict(*state, used), 2);
	/* The ids of the others are taken by what comes before it in no order. */
	script(*state, "c.lua", 1, 1, 1);
	script(*state, "d.lua", 1, 1, 1);
	assert_string_equal(shown(*state, at)->name, "work");
	assert_int_equal(script(*state, "a.lua", 3, 9, 1), f);
	assert_int_equal(functions__at_line(*state, f, 4), at);
}

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_functions, free_functions)

static void tells_machine_code_from_bytecode(void **state)
{
	struct functions *functions = *state;
	uint32_t function = script(functions, "a.lua", 1, 5, 7), native;

	native = functions__native(functions, function);
	assert_int_not_equal(native, 0);
	assert_int_not_equal(native, function);
	assert_int_equal(functions__native(functions, function), native);
	vote(functions, function, "bytecode", 1);
	vote(functions, native, "code", 1);
	assert_string_equal(shown(functions, function)->name, "bytecode");
	assert_int_equal(shown(functions, function)->flags, 0);
	assert_string_equal(shown(functions, native)->name, "code");
	assert_string_equal(shown(functions, native)->source, "a.lua");
	assert_int_equal(shown(functions, native)->line, 1);
	assert_int_equal(shown(functions, native)->flags, LS_FUNCTION_NATIVE);
	assert_string_equal(functions__source(functions, native), "a.lua");
}

static void gives_machine_code_the_name_of_its_definition(void **state)
{
	struct functions *functions = *state;
	uint32_t function = script(functions, "a.lua", 1, 5, 7);

	assert_int_equal(functions__rename(functions, function, "defined"), 0);
	assert_string_equal(shown(functions, functions__native(functions, function))->name,
			    "defined");
}

static void text_names_before_bytecode_and_that_before_callers(void **state)
{
	uint32_t id = script(*state, "app.lua", 1, 2, 0);

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
	uint32_t before = script(*state, "app.lua", 1, 2, 0);
	uint32_t after = script(*state, "app.lua", 3, 4, 0);

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
	uint32_t id = script(*state, "app.lua", 1, 2, 0);

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
		fixed(tells_machine_code_from_bytecode),
		fixed(gives_machine_code_the_name_of_its_definition),
		fixed(text_names_before_bytecode_and_that_before_callers),
		fixed(bytecode_overrules_a_text_that_has_another_name),
		fixed(callers_do_not_name_what_bytecode_has_two_names_for),
		fixed(has_none_at_first),
		fixed(knows_a_script_function_again),
		fixed(tells_apart_by_source_lines_and_shape),
		fixed(counts_ids_from_one_without_a_gap),
		fixed(shows_the_name_with_most_votes),
		fixed(shows_the_first_name_among_equals),
		fixed(votes_for_one_function_alone),
		fixed(shows_a_suggestion_only_where_nobody_voted),
		fixed(shows_what_all_callers_call_a_c_function_beside_its_place),
		fixed(calls_iterators_by_what_their_makers_have_in_common),
		fixed(shows_a_suggestion_beside_a_place_only_where_nobody_voted),
		fixed(prefers_a_given_name_to_any_votes),
		fixed(shows_the_latest_given_name),
		fixed(knows_c_functions_by_file_and_place),
		fixed(tells_c_functions_apart_by_what_processes_call_them),
		fixed(knows_code_in_no_file_only_in_its_program),
		fixed(takes_a_name_that_is_found_later),
		fixed(takes_no_later_name_that_processes_differ_in),
		fixed(knows_pseudo_functions_by_name),
		fixed(mixes_up_no_kinds),
		fixed(elects_among_more_names_than_it_keeps),
		fixed(evicts_what_is_not_used),
		fixed(keeps_lines_as_long_as_their_function),
		fixed(tells_a_function_apart_by_its_line),
		fixed(keeps_a_function_while_one_of_its_lines_is_used),
	};

	return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
