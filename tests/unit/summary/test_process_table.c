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
#include "summary/process_table.h"

#define NS_PER_MS 1000000

enum { HOST = 1, MAIN, WORK, HELP, UNREADABLE, FUNCTIONS = UNREADABLE };

/* Processes by hand. */
struct fixture {
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct call_tree *tree;
	const struct category_words *words;
	unsigned width;
	char *text; /* what was printed last */
};

static int set_up(void **state)
{
	static const char *const names[] = {NULL,   "(host)", "main chunk",
					    "work", "help",   "(unreadable)"};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	for (uint32_t id = 1; id <= FUNCTIONS; id++)
		fixture->functions[id] = (struct ls_profile_function){
			.name = names[id],
			.source = names[id][0] == '(' ? NULL : "app.lua",
			.line = names[id][0] == '(' ? 0 : id};
	fixture->tree = call_tree__new();
	fixture->width = 80;
	fixture->words = category_words__of(CATEGORY_PROCESS, GROUPING_NONE);
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
}

#define charge(fixture, process, ms, ...)                                                          \
	charge_stack(fixture, process, ms, (const uint32_t[]){__VA_ARGS__, 0})

static char *print(struct fixture *fixture)
{
	struct printer printer = {.width = fixture->width};
	struct ls_profile profile = {.functions = fixture->functions, .function_count = FUNCTIONS};
	struct ls_totals totals;
	size_t size;

	free(fixture->text);
	fixture->text = NULL;
	call_tree__export(fixture->tree, &profile);
	assert_int_equal(totals__compute(&profile, &totals), 0);
	printer.stream = open_memstream(&fixture->text, &size);
	assert_non_null(printer.stream);
	process_table__print(&printer, &profile, &totals, fixture->words);
	fclose(printer.stream);
	totals__free(&totals);
	return fixture->text;
}

static void one_process_needs_no_table(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "lua5.4", 100, MAIN);
	assert_string_equal(print(fixture), "");
}

static void processes_are_sorted_by_their_time(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "web (pid 1)", 100, MAIN);
	charge(fixture, "web (pid 1)", 60, HOST);
	charge(fixture, "web (pid 1)", 40, UNREADABLE);
	charge(fixture, "job (pid 2)", 100, MAIN);
	charge(fixture, "job (pid 2)", 500, MAIN, WORK);
	charge(fixture, "job (pid 2)", 200, MAIN, HELP);
	charge(fixture, "idle (pid 3)", 0, MAIN);
	assert_string_equal(print(fixture),
			    "\nProcesses, by CPU time\n"
			    "     CPU    time  samples  script  process      hottest function\n"
			    "   80.0%  800 ms      800  100.0%  job (pid 2)  62.5%  work\n"
			    "   20.0%  200 ms      200   50.0%  web (pid 1)  50.0%  main chunk\n"
			    "  and 1 more\n");
}

static void a_function_counts_wherever_it_was_called(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "job", 300, MAIN, HELP, WORK);
	charge(fixture, "job", 300, MAIN, WORK);
	charge(fixture, "job", 400, MAIN, HELP);
	charge(fixture, "web", 10, HELP);
	print(fixture);
	assert_non_null(strstr(fixture->text, "job      60.0%  work\n"));
	assert_non_null(strstr(fixture->text, "web      100.0%  help\n"));
}

static void a_process_without_script_has_no_function(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "job", 300, MAIN);
	charge(fixture, "(no interpreter)", 100, HOST);
	print(fixture);
	assert_non_null(strstr(fixture->text, "0.0%  (no interpreter)"));
}

static void samples_are_there_where_nothing_else_needs_the_room(void **state)
{
	static const char title[] = "lua5.4 server.lua (pid 42)";
	struct fixture *fixture = *state;

	charge(fixture, title, 300, MAIN);
	charge(fixture, "job", 100, WORK);
	fixture->width = 81;
	assert_non_null(strstr(print(fixture), "  samples  "));
	assert_non_null(strstr(fixture->text, "75.0%  300 ms      300  100.0%  lua5.4 server.lua"));
	fixture->width = 80;
	assert_null(strstr(print(fixture), "samples"));
	assert_non_null(strstr(fixture->text, title));
	assert_non_null(strstr(fixture->text, "main chunk\n"));
}

static void a_long_name_keeps_its_pid(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "lua5.4 -e while true do work(1, 2, 3, 4, 5, 6, 7) end (pid 4194304)", 300,
	       MAIN);
	charge(fixture, "/system.slice/a-service-of-a-long-name.service/its-own", 100, WORK);
	print(fixture);
	assert_non_null(strstr(fixture->text, "  4194304 lua5.4 -e while true d.."));
	assert_non_null(strstr(fixture->text, "  /system.slice/a-service-of-a-l.."));
	fixture->width = 150;
	assert_non_null(strstr(print(fixture), "7) end (pid 4194304)  100.0%"));
}

static void other_categories_are_called_what_they_are(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, "io", 300, MAIN);
	charge(fixture, "worker", 100, WORK);
	fixture->words = category_words__of(CATEGORY_THREAD, GROUPING_NONE);
	assert_non_null(strstr(print(fixture), "\nThreads, by CPU time\n"));
	assert_non_null(strstr(fixture->text, "  thread  "));
	fixture->words = category_words__of(CATEGORY_PROCESS, GROUPING_CGROUP);
	assert_non_null(strstr(print(fixture), "\nCgroups, by CPU time\n"));
	assert_non_null(strstr(fixture->text, "  cgroup  "));
}

static void threads_that_hardly_run_need_no_table(void **state)
{
	struct fixture *fixture = *state;

	fixture->words = category_words__of(CATEGORY_THREAD, GROUPING_NONE);
	charge(fixture, "lua5.4", 1000, MAIN);
	charge(fixture, "jemalloc_bg_thd", 9, HOST);
	assert_string_equal(print(fixture), "");
	charge(fixture, "jemalloc_bg_thd", 9, HOST);
	assert_non_null(strstr(print(fixture), "  jemalloc_bg_thd\n"));
}

static void a_thread_that_runs_script_is_in_the_table(void **state)
{
	struct fixture *fixture = *state;

	fixture->words = category_words__of(CATEGORY_THREAD, GROUPING_NONE);
	charge(fixture, "lua5.4", 1000, MAIN);
	charge(fixture, "worker", 1, MAIN, WORK);
	assert_non_null(strstr(print(fixture), "  worker  100.0%  work\n"));
}

static void names_are_escaped_and_no_line_is_too_wide(void **state)
{
	struct fixture *fixture = *state;
	char name[400];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	charge(fixture, name, 500, MAIN);
	charge(fixture, "evil\033[2Jname", 100, WORK);
	for (fixture->width = 40; fixture->width <= 200; fixture->width += 20) {
		print(fixture);
		assert_null(strchr(fixture->text, '\033'));
		for (char *line = strtok(fixture->text, "\n"); line; line = strtok(NULL, "\n"))
			if (terminal__width(line) > fixture->width)
				fail_msg("over %u columns: %s", fixture->width, line);
	}
}

static void the_processes_beyond_ten_are_counted(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 1; i <= 25; i++) {
		char name[32];

		snprintf(name, sizeof(name), "job %u", i);
		charge(fixture, name, i, MAIN);
	}
	print(fixture);
	assert_non_null(strstr(fixture->text, "job 25 "));
	assert_non_null(strstr(fixture->text, "job 16 "));
	assert_null(strstr(fixture->text, "job 15 "));
	assert_non_null(strstr(fixture->text, "  and 15 more\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_process_needs_no_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_are_sorted_by_their_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_function_counts_wherever_it_was_called, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_without_script_has_no_function, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(samples_are_there_where_nothing_else_needs_the_room,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_name_keeps_its_pid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_categories_are_called_what_they_are, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(threads_that_hardly_run_need_no_table, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_thread_that_runs_script_is_in_the_table, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(names_are_escaped_and_no_line_is_too_wide, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_processes_beyond_ten_are_counted, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("process table", tests, NULL, NULL);
}
