/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which functions count as the same, as different, and which are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "functions_fixture.h"

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
	uint32_t id = script_function(*state, source, 3, 9, 77);

	source[0] = 'X';
	assert_int_equal(script_function(*state, "app.lua", 3, 9, 77), id);
	assert_string_equal(shown(*state, id)->source, "app.lua");
	assert_int_equal(shown(*state, id)->line, 3);
	assert_null(shown(*state, id)->name);
}

static void tells_apart_by_source_lines_and_shape(void **state)
{
	uint32_t id = script_function(*state, "app.lua", 3, 9, 77);

	assert_int_not_equal(script_function(*state, "app.luac", 3, 9, 77), id);
	assert_int_not_equal(script_function(*state, "app.lu", 3, 9, 77), id);
	assert_int_not_equal(script_function(*state, "app.lua", 4, 9, 77), id);
	assert_int_not_equal(script_function(*state, "app.lua", 3, 8, 77), id);
	assert_int_not_equal(script_function(*state, "app.lua", 3, 9, 78), id);
	assert_int_not_equal(script_function(*state, "app.lua", 3, 9, 77ULL << 32), id);
}

static void counts_ids_from_one_without_a_gap(void **state)
{
	char source[16];

	for (uint32_t i = 1; i <= 1000; i++) {
		snprintf(source, sizeof(source), "%u.lua", i);
		assert_int_equal(script_function(*state, source, i, i, 0), i);
	}
	assert_string_equal(shown(*state, 1)->source, "1.lua");
	assert_string_equal(shown(*state, 1000)->source, "1000.lua");
	assert_int_equal(script_function(*state, "500.lua", 500, 500, 0), 500);
}

static void knows_c_functions_by_file_and_place(void **state)
{
	char name[] = "print";
	uint32_t id = c_function(*state, 0, 1, 0x1000, name);

	name[0] = 'X';
	assert_int_equal(c_function(*state, 0, 1, 0x1000, "print"), id);
	assert_int_not_equal(c_function(*state, 0, 1, 0x1001, "print"), id);
	assert_int_not_equal(c_function(*state, 0, 2, 0x1000, "print"), id);
	assert_string_equal(shown(*state, id)->source, "[C]");
	assert_string_equal(shown(*state, id)->name, "print");
	assert_int_equal(shown(*state, id)->line, 0);
}

/* One program's "app.sleep" may be another's "socket.sleep". */
static void tells_c_functions_apart_by_what_processes_call_them(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "socket.sleep");
	uint32_t other = c_function(*state, 0, 1, 0x1000, "app.sleep");

	assert_int_not_equal(other, id);
	assert_string_equal(shown(*state, id)->name, "socket.sleep");
	assert_string_equal(shown(*state, other)->name, "app.sleep");
}

static void knows_code_in_no_file_only_in_its_program(void **state)
{
	uint32_t one = functions__program(*state), other = functions__program(*state);
	uint32_t id = c_function(*state, one, 0, 0x1000, "0x1000");

	assert_int_not_equal(one, 0);
	assert_int_equal(c_function(*state, one, 7, 0x1000, "0x1000"), id);
	assert_int_not_equal(c_function(*state, other, 0, 0x1000, "0x1000"), id);
	assert_int_not_equal(c_function(*state, 0, 0, 0x1000, "0x1000"), id);
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
	uint32_t in_c = c_function(*state, 0, 0, 0, "");
	uint32_t nowhere = script_function(*state, "", 0, 0, 0);

	assert_int_not_equal(pseudo, in_c);
	assert_int_not_equal(pseudo, nowhere);
	assert_int_not_equal(in_c, nowhere);
}

static void evicts_what_is_not_used(void **state)
{
	uint8_t used[8] = {0};
	uint32_t pseudo = functions__pseudo(*state, "(host)");
	uint32_t a = script_function(*state, "a.lua", 1, 2, 3),
		 b = script_function(*state, "b.lua", 1, 2, 3);
	uint32_t in_c = c_function(*state, 0, 1, 0x1000, "c"), again;

	vote(*state, a, "a", 1);
	vote(*state, in_c, "c", 1);
	assert_string_equal(shown(*state, in_c)->name, "c (c)");
	used[b] = 1;
	assert_int_equal(functions__evict(*state, used), 2);
	assert_int_equal(functions__evict(*state, used), 0);
	assert_int_equal(functions__count(*state), 2);
	assert_int_equal(functions__highest(*state), 4);
	assert_int_equal(functions__pseudo(*state, "(host)"), pseudo);
	assert_int_equal(script_function(*state, "b.lua", 1, 2, 3), b);
	/* Ids of others are taken again, but none of what they meant. */
	again = script_function(*state, "d.lua", 1, 2, 3);
	assert_true(again == a || again == in_c);
	assert_null(shown(*state, again)->name);
	assert_string_equal(shown(*state, again)->source, "d.lua");
	assert_int_not_equal(script_function(*state, "a.lua", 1, 2, 3), again);
	assert_int_equal(functions__highest(*state), 4);
}

static void keeps_lines_as_long_as_their_function(void **state)
{
	uint32_t f = script_function(*state, "a.lua", 3, 9, 1),
		 g = script_function(*state, "b.lua", 3, 9, 1);
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
	assert_int_equal(script_function(*state, "c.lua", 3, 9, 1), f);
	assert_null(functions__lines(*state, f));
}

static void tells_a_function_apart_by_its_line(void **state)
{
	uint32_t f = script_function(*state, "a.lua", 3, 9, 1),
		 g = script_function(*state, "a.lua", 11, 12, 1);
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
	uint32_t f = script_function(*state, "a.lua", 3, 9, 1),
		 g = script_function(*state, "b.lua", 3, 9, 1);
	uint32_t at = functions__at_line(*state, f, 4), unused = functions__at_line(*state, g, 5);
	uint8_t used[8] = {[4] = 0};

	assert_in_range(unused, 1, 7);
	used[at] = 1;
	vote(*state, f, "work", 1);
	shown(*state, at);
	assert_int_equal(functions__evict(*state, used), 2);
	/* The ids of the others are taken by what comes before it in no order. */
	script_function(*state, "c.lua", 1, 1, 1);
	script_function(*state, "d.lua", 1, 1, 1);
	assert_string_equal(shown(*state, at)->name, "work");
	assert_int_equal(script_function(*state, "a.lua", 3, 9, 1), f);
	assert_int_equal(functions__at_line(*state, f, 4), at);
}

static void keeps_a_c_function_while_a_name_of_its_callers_is_used(void **state)
{
	uint32_t id = c_function(*state, 0, 1, 0x1000, "c");
	uint32_t f = functions__called(*state, id, "f");
	uint32_t unused = functions__called(*state, id, "g");
	uint8_t used[8] = {0};

	assert_in_range(unused, 1, 7);
	used[f] = 1;
	vote(*state, id, "f", 1);
	vote(*state, id, "g", 1);
	assert_int_equal(functions__evict(*state, used), 1);
	assert_int_equal(script_function(*state, "d.lua", 1, 1, 1), unused);
	assert_string_equal(shown(*state, f)->name, "f (c)");
	assert_int_equal(c_function(*state, 0, 1, 0x1000, "c"), id);
	assert_int_equal(functions__called(*state, id, "f"), f);
}

static void tells_machine_code_from_bytecode(void **state)
{
	struct functions *functions = *state;
	uint32_t function = script_function(functions, "a.lua", 1, 5, 7), native;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(tells_machine_code_from_bytecode),
		fixed(has_none_at_first),
		fixed(knows_a_script_function_again),
		fixed(tells_apart_by_source_lines_and_shape),
		fixed(counts_ids_from_one_without_a_gap),
		fixed(knows_c_functions_by_file_and_place),
		fixed(tells_c_functions_apart_by_what_processes_call_them),
		fixed(knows_code_in_no_file_only_in_its_program),
		fixed(knows_pseudo_functions_by_name),
		fixed(mixes_up_no_kinds),
		fixed(evicts_what_is_not_used),
		fixed(keeps_lines_as_long_as_their_function),
		fixed(tells_a_function_apart_by_its_line),
		fixed(keeps_a_function_while_one_of_its_lines_is_used),
		fixed(keeps_a_c_function_while_a_name_of_its_callers_is_used),
	};

	return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
