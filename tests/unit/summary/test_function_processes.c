/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/terminal.h"
#include "profile/call_tree.h"
#include "summary/hottest_functions.h"
#include "summary/summary.h"

#define NS_PER_MS 1000000

enum { HOST = 1, MAIN, WORK, HELP, FUNCTIONS = HELP };

/* Processes by hand; functions as the summary shows them. */
struct fixture {
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile_line lines[FUNCTIONS];
	struct call_tree *tree;
	unsigned width;
	char *text; /* what was printed last */
};

static int set_up(void **state)
{
	static const char *const names[] = {NULL, "(host)", "main chunk", "work", "help"};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	for (uint32_t id = 1; id <= FUNCTIONS; id++) {
		fixture->lines[id - 1] = (struct ls_profile_line){.line = 10 + id};
		fixture->functions[id] = (struct ls_profile_function){.name = names[id],
								      .source = "app.lua",
								      .line = id,
								      .first_line = id - 1,
								      .line_count = 1};
	}
	fixture->functions[HOST] = (struct ls_profile_function){.name = names[HOST]};
	fixture->tree = call_tree__new();
	fixture->width = 120;
	return fixture->tree ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	call_tree__free(fixture->tree);
	free(fixture->text);
	free(fixture);
	return 0;
}

/* Charges so many ms of a process to the stack, which ends with 0. */
static void charge_stack(struct fixture *fixture, const char *process, uint64_t ms,
			 const uint32_t *stack)
{
	uint32_t node = call_tree__category(fixture->tree, process);

	for (; *stack; stack++)
		node = call_tree__child(fixture->tree, node, *stack);
	call_tree__add(fixture->tree, node, ms, ms * NS_PER_MS);
	fixture->lines[stack[-1] - 1].self_ns += ms * NS_PER_MS;
}

#define charge(fixture, process, ms, ...)                                                          \
	charge_stack(fixture, process, ms, (const uint32_t[]){__VA_ARGS__, 0})

static void compute(struct fixture *fixture, struct ls_profile *profile, struct ls_totals *totals)
{
	*profile = (struct ls_profile){.functions = fixture->functions,
				       .function_count = FUNCTIONS,
				       .lines = fixture->lines,
				       .line_count = FUNCTIONS};
	call_tree__export(fixture->tree, profile);
	assert_int_equal(totals__compute(profile, totals), 0);
}

static const char *print(struct fixture *fixture)
{
	const struct category_words *words = category_words__of(CATEGORY_PROCESS, GROUPING_NONE);
	struct printer printer = {.width = fixture->width};
	struct ls_profile profile;
	struct ls_totals totals;
	size_t size;

	free(fixture->text);
	fixture->text = NULL;
	compute(fixture, &profile, &totals);
	printer.stream = open_memstream(&fixture->text, &size);
	assert_non_null(printer.stream);
	hottest_functions__print(&printer, &profile, &totals, words);
	fclose(printer.stream);
	totals__free(&totals);
	return fixture->text;
}

static void assert_shows(struct fixture *fixture, const char *text)
{
	if (!strstr(print(fixture), text))
		fail_msg("missing:\n%s\nin:\n%s", text, fixture->text);
}

static void assert_hides(struct fixture *fixture, const char *text)
{
	if (strstr(print(fixture), text))
		fail_msg("unexpected:\n%s\nin:\n%s", text, fixture->text);
}

#define WEB "lua5.4 web.lua (pid 1)"
#define JOB "lua5.4 job.lua (pid 2)"

static void charge_both(struct fixture *fixture)
{
	charge(fixture, WEB, 100, MAIN);
	charge(fixture, WEB, 300, MAIN, WORK);
	charge(fixture, JOB, 200, MAIN, WORK);
	charge(fixture, JOB, 150, MAIN, HELP, WORK);
	charge(fixture, JOB, 50, MAIN, HELP);
	charge(fixture, JOB, 900, HOST);
}

static void the_process_with_most_of_a_function_is_beside_it(void **state)
{
	struct fixture *fixture = *state;

	charge_both(fixture);
	assert_shows(fixture, "  process                    function    source\n");
	assert_shows(fixture, "  " JOB " +1  work        app.lua:3 ->:13 100%\n");
	assert_shows(fixture, "  " WEB "     main chunk  app.lua:2 ->:12 100%\n");
	assert_shows(fixture, "  " JOB "     help        app.lua:4 ->:14 100%\n");
}

static void one_process_needs_no_column(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, WEB, 300, MAIN, WORK);
	assert_shows(fixture, "  function  source\n");
	assert_hides(fixture, "process");
	assert_hides(fixture, WEB);
}

/* First the bars, then the process: the function, its place and its hot line stay. */
static void a_narrow_table_keeps_functions_before_processes(void **state)
{
	struct fixture *fixture = *state;

	charge_both(fixture);
	assert_shows(fixture, "##");
	fixture->width = 80;
	assert_hides(fixture, "##");
	assert_shows(fixture, "2 lua5");
	assert_shows(fixture, " +1  work        app.lua:3 ->:13 100%\n");
	fixture->width = 70;
	assert_hides(fixture, "process");
	assert_shows(fixture, "##");
	for (fixture->width = 76; fixture->width <= 130; fixture->width++) {
		assert_shows(fixture, "  work        app.lua:3 ->:13 100%\n");
		assert_shows(fixture, "  main chunk  app.lua:2 ->:12 100%\n");
		for (char *line = strtok(fixture->text, "\n"); line; line = strtok(NULL, "\n"))
			assert_in_range(terminal__width(line), 0, fixture->width);
	}
}

/* The label of that row is cut. */
static void one_long_row_costs_no_other_its_process(void **state)
{
	struct fixture *fixture = *state;

	charge_both(fixture);
	fixture->functions[HELP].name = "a_function_with_a_long_name";
	fixture->functions[HELP].source = "a_folder/a_source_with_a_long_name.lua";
	fixture->width = 80;
	assert_shows(fixture, "  process       function");
	assert_shows(fixture, "  2 lua5... +1  work   ");
	assert_shows(fixture, "  2 lua5.4 j..  a_function");
	for (fixture->width = 76; fixture->width <= 130; fixture->width++) {
		assert_shows(fixture, "  process  ");
		assert_shows(fixture, " app.lua:3 ->:13 100%\n");
		for (char *line = strtok(fixture->text, "\n"); line; line = strtok(NULL, "\n"))
			assert_in_range(terminal__width(line), 0, fixture->width);
	}
}

/* As table.concat beside functions with long places: their sources are in one column. */
static void names_have_room_beside_processes(void **state)
{
	struct fixture *fixture = *state;

	charge_both(fixture);
	fixture->functions[MAIN].name = "f";
	fixture->functions[HELP].name = "table.concat";
	fixture->functions[HELP].source = "[C]";
	fixture->functions[HELP].line = 0;
	fixture->functions[WORK].source = "a_source_with_a_long_name.lua";
	fixture->width = 80;
	assert_shows(fixture, "  process");
	assert_shows(fixture, "  table.concat  [C]");
	assert_shows(fixture, "  f             app.lua:2 ->:12 100%\n");
	assert_shows(fixture, "  function      source\n");
}

static void a_name_is_escaped(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "evil\033[2J (pid 1)", 100, MAIN);
	charge(fixture, JOB, 50, HELP);
	for (fixture->width = 40; fixture->width <= 140; fixture->width += 20)
		assert_hides(fixture, "\033");
	assert_shows(fixture, "evil\\x1b[2J (pid 1)");
}

static void describe(struct fixture *fixture, char *text, size_t size)
{
	struct ls_profile profile;
	struct ls_totals totals;

	compute(fixture, &profile, &totals);
	profile.recorder.cpu_ns = totals.all_us * 1000;
	summary__describe(&profile, &totals, category_words__of(CATEGORY_PROCESS, GROUPING_NONE),
			  text, size);
	totals__free(&totals);
}

static void an_interval_tells_how_many_processes_it_has(void **state)
{
	char text[SUMMARY_LINE_SIZE];
	struct fixture *fixture = *state;

	charge(fixture, WEB, 300, MAIN);
	describe(fixture, text, sizeof(text));
	assert_string_equal(text, "300 ms of CPU time, hottest main chunk 100.0%");
	charge(fixture, "(no interpreter)", 100, HOST);
	describe(fixture, text, sizeof(text));
	assert_string_equal(text, "1 process, 400 ms of CPU time, most in " WEB
				  " 75.0%, hottest main chunk 75.0%");
	charge(fixture, JOB, 600, WORK);
	charge(fixture, "idle (pid 3)", 0, WORK);
	describe(fixture, text, sizeof(text));
	assert_string_equal(text, "2 processes, 1.00 s of CPU time, most in " JOB
				  " 60.0%, hottest work 60.0%");
}

#define with_processes(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_processes(the_process_with_most_of_a_function_is_beside_it),
		with_processes(one_process_needs_no_column),
		with_processes(a_narrow_table_keeps_functions_before_processes),
		with_processes(one_long_row_costs_no_other_its_process),
		with_processes(names_have_room_beside_processes),
		with_processes(a_name_is_escaped),
		with_processes(an_interval_tells_how_many_processes_it_has),
	};

	return cmocka_run_group_tests_name("function processes", tests, NULL, NULL);
}
