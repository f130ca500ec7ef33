/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <locale.h>

#include <cmocka.h>

#include "base/terminal.h"
#include "profile/call_tree.h"
#include "summary/call_paths.h"

#define FUNCTIONS 700
#define NS_PER_MS 1000000

enum { HOST = 1, MAIN, RUN, LOOP, WORK, HELP, FIB, IDLE, LAST_NAMED = IDLE };

/* A call tree by hand. */
struct fixture {
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct call_tree *tree;
	uint32_t category;
	unsigned width;
	bool utf8;
	char *text; /* what was printed last */
};

static int set_up(void **state)
{
	static const char *const names[] = {NULL,   "(host)", "main chunk", "run", "loop",
					    "work", "help",   "fib",        "idle"};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	for (uint32_t id = 1; id <= FUNCTIONS; id++)
		fixture->functions[id] =
			(struct ls_profile_function){.name = id <= LAST_NAMED ? names[id] : "many",
						     .source = id == HOST ? NULL : "src/app.lua",
						     .line = 10 * id};
	fixture->functions[HOST].line = 0;
	fixture->tree = call_tree__new();
	fixture->category = call_tree__category(fixture->tree, "lua5.4");
	fixture->width = 80;
	return fixture->category ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	setlocale(LC_CTYPE, "C");
	call_tree__free(fixture->tree);
	free(fixture->text);
	free(fixture);
	return 0;
}

/* Charges so many ms to the stack, which ends with 0; returns its node. */
static uint32_t charge_below(struct fixture *fixture, uint32_t node, uint64_t ms,
			     const uint32_t *stack)
{
	for (; *stack; stack++)
		node = call_tree__child(fixture->tree, node, *stack);
	call_tree__add(fixture->tree, node, ms, ms * NS_PER_MS);
	return node;
}

#define charge(fixture, ms, ...)                                                                   \
	charge_below(fixture, (fixture)->category, ms, (const uint32_t[]){__VA_ARGS__, 0})

enum what { PATH, TREE, CALLERS };

static char *print(struct fixture *fixture, enum what what, uint32_t depth, const char *wanted)
{
	struct printer printer = {.width = fixture->width, .utf8 = fixture->utf8};
	struct ls_profile profile = {.functions = fixture->functions, .function_count = FUNCTIONS};
	struct ls_totals totals;
	size_t size;

	free(fixture->text);
	fixture->text = NULL;
	setlocale(LC_CTYPE, fixture->utf8 ? "C.UTF-8" : "C");
	call_tree__export(fixture->tree, &profile);
	assert_int_equal(totals__compute(&profile, &totals), 0);
	printer.stream = open_memstream(&fixture->text, &size);
	assert_non_null(printer.stream);
	if (what == PATH)
		call_paths__print_hottest(&printer, &profile, &totals);
	else if (what == TREE)
		call_paths__print_tree(&printer, &profile, &totals, depth);
	else
		call_paths__print_callers(&printer, &profile, &totals, wanted);
	fclose(printer.stream);
	totals__free(&totals);
	return fixture->text;
}

static unsigned count_lines(const char *text)
{
	unsigned lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

static void assert_columns(char *text, unsigned columns)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (terminal__width(line) > columns)
			fail_msg("over %u columns: %s", columns, line);
}

#define PATH_TITLE "\nHottest path, by total time\n"
#define TREE_TITLE "\nCall tree, by total time\n   total    self  function\n"

static void the_path_joins_what_has_nearly_the_same_time(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 600, MAIN, RUN, LOOP, WORK);
	charge(fixture, 350, MAIN, RUN, LOOP, HELP);
	charge(fixture, 20, MAIN, RUN);
	charge(fixture, 30, HOST);
	assert_string_equal(print(fixture, PATH, 0, NULL),
			    PATH_TITLE "   95.0%  main chunk > run > loop  src/app.lua:40\n"
				       "   60.0%  work  src/app.lua:50\n");
}

static void the_path_leaves_out_names_that_do_not_fit(void **state)
{
	struct fixture *fixture = *state;

	fixture->functions[RUN].name = "a_function_of_a_name_that_is_quite_long";
	charge(fixture, 1000, MAIN, RUN, LOOP, WORK);
	assert_string_equal(print(fixture, PATH, 0, NULL), PATH_TITLE
			    "  100.0%  main chunk > ... 2 more > work  src/app.lua:50\n");
	fixture->width = 40;
	fixture->utf8 = true;
	assert_string_equal(print(fixture, PATH, 0, NULL),
			    PATH_TITLE "  100.0%  \u2026 3 more > work  \u2026/app.lua:50\n");
}

/* Wherever the function calls itself, its callees are added up. */
static void the_path_takes_recursion_for_one_call(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 200, MAIN, FIB);
	charge(fixture, 200, MAIN, FIB, FIB);
	charge(fixture, 150, MAIN, FIB, FIB, FIB, WORK);
	charge(fixture, 150, MAIN, FIB, FIB, WORK);
	charge(fixture, 100, MAIN, FIB, WORK, FIB, WORK, HELP);
	charge(fixture, 200, MAIN, IDLE);
	assert_string_equal(print(fixture, PATH, 0, NULL),
			    PATH_TITLE "  100.0%  main chunk  src/app.lua:20\n"
				       "   80.0%  fib (recursive)  src/app.lua:70\n"
				       "   40.0%  work (recursive)  src/app.lua:50\n");
}

static void the_path_ends_where_it_forks_or_gets_thin(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 40, MAIN, RUN);
	charge(fixture, 40, MAIN, LOOP);
	charge(fixture, 40, MAIN, WORK);
	charge(fixture, 40, MAIN, HELP);
	assert_string_equal(print(fixture, PATH, 0, NULL),
			    PATH_TITLE "  100.0%  main chunk  src/app.lua:20\n");
	charge(fixture, 5000, HOST);
	assert_string_equal(print(fixture, PATH, 0, NULL), "");
}

static void the_path_begins_in_the_category_with_most_script(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = call_tree__category(fixture->tree, "lua\033 (pid 7)");

	charge(fixture, 400, HOST);
	charge(fixture, 200, MAIN);
	charge_below(fixture, other, 400, (const uint32_t[]){MAIN, RUN, 0});
	assert_string_equal(print(fixture, PATH, 0, NULL),
			    PATH_TITLE "   40.0%  lua\\x1b (pid 7)\n"
				       "   40.0%  main chunk > run  src/app.lua:30\n");
}

/* Each step has less than the one before it. */
static void a_long_path_loses_its_middle(void **state)
{
	struct fixture *fixture = *state;
	uint32_t node = fixture->category;

	for (uint32_t id = 0; id < 25; id++) {
		node = call_tree__child(fixture->tree, node, 100 + id);
		call_tree__add(fixture->tree, node, 1, 100 * NS_PER_MS);
	}
	print(fixture, PATH, 0, NULL);
	assert_int_equal(count_lines(fixture->text), 2 + 12);
	assert_non_null(strstr(fixture->text, "\n          ... "));
	assert_non_null(strstr(fixture->text, "   96.0%  many > many  src/app.lua:1010\n"));
}

static void the_tree_has_children_by_their_total(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 300, MAIN, RUN);
	charge(fixture, 500, MAIN, LOOP, WORK);
	charge(fixture, 100, MAIN, LOOP);
	charge(fixture, 100, HOST);
	assert_string_equal(print(fixture, TREE, 8, NULL),
			    TREE_TITLE "   90.0%    0.0%  main chunk  src/app.lua:20\n"
				       "   60.0%   10.0%    loop  src/app.lua:40\n"
				       "   50.0%   50.0%      work  src/app.lua:50\n"
				       "   30.0%   30.0%    run  src/app.lua:30\n"
				       "   10.0%   10.0%  (host)\n");
	assert_string_equal(print(fixture, TREE, 2, NULL),
			    TREE_TITLE "   90.0%    0.0%  main chunk  src/app.lua:20\n"
				       "   60.0%   10.0%    loop  src/app.lua:40\n"
				       "   30.0%   30.0%    run  src/app.lua:30\n"
				       "   10.0%   10.0%  (host)\n"
				       "  calls deeper than 2 are left out (--tree=DEPTH)\n");
}

static void the_tree_counts_what_is_small(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 987, MAIN, RUN);
	for (uint32_t id = 100; id < 112; id++)
		charge(fixture, 1, MAIN, id);
	charge(fixture, 1, HOST);
	assert_string_equal(print(fixture, TREE, 8, NULL),
			    TREE_TITLE "   99.9%    0.0%  main chunk  src/app.lua:20\n"
				       "   98.7%   98.7%    run  src/app.lua:30\n"
				       "    1.2%            ... 12 others\n"
				       "    0.1%          ... 1 other\n");
}

static void the_tree_names_categories_if_there_are_several(void **state)
{
	struct fixture *fixture = *state;
	uint32_t other = call_tree__category(fixture->tree, "thread 2");

	charge(fixture, 400, MAIN, RUN);
	charge_below(fixture, other, 600, (const uint32_t[]){MAIN, 0});
	assert_string_equal(print(fixture, TREE, 1, NULL),
			    TREE_TITLE "   60.0%    0.0%  thread 2\n"
				       "   60.0%   60.0%    main chunk  src/app.lua:20\n"
				       "   40.0%    0.0%  lua5.4\n"
				       "   40.0%    0.0%    main chunk  src/app.lua:20\n"
				       "  calls deeper than 1 are left out (--tree=DEPTH)\n");
}

/* As deep and as wide as it may be. */
static void the_tree_keeps_to_its_lines_and_columns(void **state)
{
	struct fixture *fixture = *state;
	uint32_t node = fixture->category;

	for (uint32_t id = 20; id < FUNCTIONS; id++)
		node = call_tree__child(fixture->tree, node, id);
	call_tree__add(fixture->tree, node, 1, 1000 * NS_PER_MS);
	print(fixture, TREE, 512, NULL);
	assert_int_equal(count_lines(fixture->text), 3 + 500 + 1);
	assert_non_null(strstr(fixture->text, "\n  what comes after 500 lines is left out\n"));
	for (unsigned width = 40; width <= 500; width += 92) {
		fixture->width = width;
		assert_columns(print(fixture, TREE, 512, NULL), width);
		assert_columns(print(fixture, PATH, 0, NULL), width);
		assert_columns(print(fixture, CALLERS, 0, "many"), width);
	}
}

static void callers_are_shares_of_the_functions_total(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 60, MAIN, RUN, WORK);
	charge(fixture, 30, MAIN, LOOP, WORK, HELP);
	charge(fixture, 10, MAIN, WORK);
	charge(fixture, 900, MAIN);
	assert_string_equal(print(fixture, CALLERS, 0, "work"),
			    "\nCallers of work, by share of its total time\n"
			    "  100.0%  work  src/app.lua:50\n"
			    "   60.0%    run  src/app.lua:30\n"
			    "   60.0%      main chunk  src/app.lua:20\n"
			    "   30.0%    loop  src/app.lua:40\n"
			    "   30.0%      main chunk  src/app.lua:20\n"
			    "   10.0%    main chunk  src/app.lua:20\n");
}

static void recursion_of_what_is_called_counts_once(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 50, MAIN, FIB, FIB, FIB);
	charge(fixture, 30, MAIN, FIB, HELP, FIB);
	charge(fixture, 20, RUN, RUN, RUN, FIB, FIB);
	assert_string_equal(print(fixture, CALLERS, 0, "fib"),
			    "\nCallers of fib, by share of its total time\n"
			    "  100.0%  fib  src/app.lua:70\n"
			    "   80.0%    main chunk  src/app.lua:20\n"
			    "   20.0%    run  src/app.lua:30\n");
}

static void callers_are_found_by_name_or_place(void **state)
{
	struct fixture *fixture = *state;
	static const char *const places[] = {"app.lua:50", "src/app.lua:50"};
	static const char *const none[] = {"pp.lua:50", "app.lua:5", "/src/app.lua:50", "50", ":50",
					   "wor",       "app.lua",   "(host)",          ""};

	charge(fixture, 60, MAIN, WORK);
	charge(fixture, 60, HOST);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(strstr(print(fixture, CALLERS, 0, places[i]),
				       "\n  100.0%  work  src/app.lua:50\n"));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_non_null(strstr(print(fixture, CALLERS, 0, none[i]),
				       "\n  none: no function in the profile"));
	assert_non_null(strstr(print(fixture, CALLERS, 0, "a\033"), "Callers of a\\x1b, by"));
}

static void functions_of_one_name_have_trees_of_their_own(void **state)
{
	struct fixture *fixture = *state;

	fixture->functions[HELP].name = "work";
	/* As --lines tells them apart. */
	fixture->functions[LOOP] = fixture->functions[WORK];
	fixture->functions[LOOP].current_line = 52;
	charge(fixture, 75, MAIN, WORK, HELP);
	charge(fixture, 25, RUN, LOOP);
	assert_string_equal(print(fixture, CALLERS, 0, "work"),
			    "\nCallers of work, by share of its total time\n"
			    "  100.0%  work  src/app.lua:52\n"
			    "   75.0%    main chunk  src/app.lua:20\n"
			    "   25.0%    run  src/app.lua:30\n"
			    "  100.0%  work  src/app.lua:60\n"
			    "  100.0%    work  src/app.lua:50\n"
			    "  100.0%      main chunk  src/app.lua:20\n");
	print(fixture, CALLERS, 0, "many");
	assert_non_null(strstr(fixture->text, "\n  more functions have that name"));
}

static void survives_a_tree_of_nothing(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(print(fixture, PATH, 0, NULL), "");
	assert_string_equal(print(fixture, TREE, 8, NULL), TREE_TITLE);
	print(fixture, CALLERS, 0, "work");
}

#define with_tree(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_tree(the_path_joins_what_has_nearly_the_same_time),
		with_tree(the_path_leaves_out_names_that_do_not_fit),
		with_tree(the_path_takes_recursion_for_one_call),
		with_tree(the_path_ends_where_it_forks_or_gets_thin),
		with_tree(the_path_begins_in_the_category_with_most_script),
		with_tree(a_long_path_loses_its_middle),
		with_tree(the_tree_has_children_by_their_total),
		with_tree(the_tree_counts_what_is_small),
		with_tree(the_tree_names_categories_if_there_are_several),
		with_tree(the_tree_keeps_to_its_lines_and_columns),
		with_tree(callers_are_shares_of_the_functions_total),
		with_tree(recursion_of_what_is_called_counts_once),
		with_tree(callers_are_found_by_name_or_place),
		with_tree(functions_of_one_name_have_trees_of_their_own),
		with_tree(survives_a_tree_of_nothing),
	};

	return cmocka_run_group_tests_name("call paths", tests, NULL, NULL);
}
