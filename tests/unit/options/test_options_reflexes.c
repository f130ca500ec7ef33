/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hands type by reflex: numbers alone, names, options and endings of other profilers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "accepted.h"
#include "parsing.h"

/* As `pidof` prints them, and as people type them. */
static void takes_words_that_are_numbers_for_processes(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "1234");
	assert_int_equal(options.record.targets.pid_count, 1);
	assert_int_equal(options.record.targets.pids[0], 1234);
	assert_runs(&options, "record", "-p", "12", "34", "-d", "5", "56", "-q");
	assert_int_equal(options.record.targets.pid_count, 3);
	assert_int_equal(options.record.targets.pids[1], 34);
	assert_int_equal(options.record.targets.pids[2], 56);
	assert_int_equal(options.record.duration_ns, 5000000000);
	assert_int_equal(options.record.log_level, LOG_ERROR);
	assert_runs(&options, "record", "-p", "1", "-p", "22", "333");
	assert_int_equal(options.record.targets.pid_count, 3);
	assert_int_equal(options.record.targets.pids[0], 1);
	assert_int_equal(options.record.targets.pids[2], 333);
	assert_runs(&options, "record", "--", "1234");
	assert_int_equal(options.record.targets.pid_count, 0);
	assert_string_equal(options.record.words[0], "1234");
	assert_runs(&options, "dump", "42", "--json");
	assert_int_equal(options.dump.pid, 42);
	assert_true(options.dump.json);
	assert_wrong("unexpected second process '2' ('luaspy dump' takes one)", "dump", "-p", "1",
		     "2");
	assert_wrong("unexpected second process '2' ('luaspy dump' takes one)", "dump", "-p", "1",
		     "-p", "2");
	assert_runs(&options, "check", "42");
	assert_int_equal(options.check.pid, 42);
	assert_wrong("out of range: value '0' of option '--pid' (accepted: " PID ")", "record",
		     "0");
}

static void takes_a_name_instead_of_a_process(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "--name", "^redis", "--user=0");
	assert_string_equal(options.record.targets.criteria.name, "^redis");
	assert_string_equal(options.record.targets.criteria.user, "0");
	assert_false(options.record.targets.system);
	assert_int_equal(options.record.category, CATEGORY_THREAD);
	assert_true(target_choice__is_by_name(&options.record.targets));
	assert_runs(&options, "record", "--name=x", "--system");
	assert_false(target_choice__is_by_name(&options.record.targets));
	assert_runs(&options, "dump", "--name=lua");
	assert_int_equal(options.dump.pid, 0);
	assert_string_equal(options.dump.criteria.name, "lua");
	assert_runs(&options, "check", "--name=lua");
	assert_string_equal(options.check.criteria.name, "lua");
	assert_wrong("cannot understand value '(' of option '--name' (accepted: an extended "
		     "regular expression, such as '^(lua|redis)')",
		     "dump", "--name", "(");
	assert_wrong("'COMMAND' excludes '--name', '--user' and '--cgroup' (they choose among all "
		     "processes)",
		     "record", "--name=x", "--", "true");
}

/* Options of py-spy and perf. */
static void takes_what_hands_type_by_reflex(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "-r", "250");
	assert_int_equal(options.record.sampling.period_ns, 4000000);
	assert_runs(&options, "record", "-p1", "--rate=500");
	assert_int_equal(options.record.sampling.period_ns, 2000000);
	assert_runs(&options, "record", "-sp1");
	assert_true(options.record.targets.children);
	assert_runs(&options, "record", "-p1", "--subprocesses");
	assert_true(options.record.targets.children);
	assert_wrong("option '--rate' needs a value (" FREQUENCY ")", "record", "-r");
}

static void answers_what_hands_type_by_reflex(void **state)
{
	(void)state;
	assert_wrong("unknown option '-a' ('--system' takes all processes that run an interpreter)",
		     "record", "-a");
	assert_wrong(
		"unknown option '--all' ('--system' takes all processes that run an interpreter)",
		"record", "--all");
	assert_wrong("unknown option '-a' (see 'luaspy check --help')", "check", "-a");
	assert_wrong("unknown option '-g' (call stacks are always taken)", "record", "-p1", "-g");
	assert_wrong("unknown option '--native' (C functions that Lua calls are always shown; "
		     "machine frames below them are not)",
		     "record", "--native");
	assert_wrong("unknown option '--idle' (luaspy samples what uses CPU time; 'luaspy dump' "
		     "shows threads that wait)",
		     "record", "--idle");
	assert_wrong("unknown option '--nonblocking' (luaspy never stops the process)", "record",
		     "--nonblocking");
	assert_wrong("unknown option '-l' (luaspy reads which functions run, but no variables)",
		     "dump", "-l");
}

/* Options of top(1). */
static void answers_what_top_takes_elsewhere(void **state)
{
	(void)state;
	assert_wrong("unknown option '-n' (top runs until you quit it; 'luaspy record -d 10' ends "
		     "after 10 s and prints a summary)",
		     "top", "-p1", "-n", "1");
	assert_wrong("unknown option '-b' (top needs a terminal; 'luaspy record -d 10' prints a "
		     "summary after 10 s)",
		     "top", "-p1", "-b");
	assert_wrong("unknown option '-d' (top shows a new picture every second)", "top", "-d",
		     "1");
	assert_wrong("unknown option '-n' (C functions that Lua calls are always shown; machine "
		     "frames below them are not)",
		     "record", "-n");
}

static void answers_where_threads_and_processes_are(void **state)
{
	(void)state;
	assert_wrong("unknown option '-t' (each thread has a category by default; with several "
		     "processes, add '--category=thread')",
		     "record", "-p1", "-t");
	assert_wrong("unknown option '--threads' (each thread has a category by default; with "
		     "several processes, add '--category=thread')",
		     "record", "--threads");
	assert_wrong("unknown option '-t' (see 'luaspy list --help')", "list", "-t");
	assert_wrong("unknown option '-p' (list shows all processes; 'luaspy check -p PID' tells "
		     "about one)",
		     "list", "-p", "1");
	assert_wrong("unknown option '--pid=1' (list shows all processes; 'luaspy check -p PID' "
		     "tells about one)",
		     "list", "--pid=1");
	assert_wrong("unexpected argument '1' (list shows all processes; 'luaspy check -p PID' "
		     "tells about one)",
		     "list", "1");
	assert_wrong("unknown option '-a' (list shows all processes that run an interpreter)",
		     "list", "-a");
	assert_wrong("unknown command 'ps' ('luaspy list' shows the processes)", "ps");
	assert_wrong("unknown command 'ps' ('luaspy list' shows the processes)", "help", "ps");
}

static void asks_what_to_do_with_a_process(void **state)
{
	(void)state;
	assert_wrong("missing command before '1234' (such as record, top or dump)", "1234");
	assert_wrong("missing command before '--pid' (such as record, top or dump)", "--pid",
		     "1234");
	assert_wrong("missing command before '-p1234' (such as record, top or dump)", "-p1234");
}

static void takes_the_options_of_list(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "list");
	assert_int_equal(options.command, COMMAND_LIST);
	assert_false(options.list.json);
	assert_runs(&options, "list", "--json");
	assert_true(options.list.json);
	assert_wrong("unexpected argument 'x' after 'luaspy list' (see 'luaspy help list')", "list",
		     "x");
	assert_wrong("unknown option '--jsn' (did you mean '--json'?)", "list", "--jsn");
}

static void takes_what_the_summary_is_to_show(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p", "1");
	assert_int_equal(options.record.tree_depth, 0);
	assert_null(options.record.callers);
	/* A word after it is no depth: "-v" still counts. */
	assert_runs(&options, "record", "-p", "1", "--tree", "-v", "--callers", "app.lua:12");
	assert_int_equal(options.record.tree_depth, 8);
	assert_int_equal(options.record.log_level, LOG_DEBUG);
	assert_string_equal(options.record.callers, "app.lua:12");
	assert_runs(&options, "record", "-p", "1", "--tree=512");
	assert_int_equal(options.record.tree_depth, 512);
	assert_wrong("out of range: value '513' of option '--tree' (accepted: a depth, 1 to 512)",
		     "record", "-p", "1", "--tree=513");
	assert_wrong("cannot understand value '' of option '--tree' (accepted: a depth, 1 to 512)",
		     "record", "-p", "1", "--tree=");
	assert_wrong("cannot understand value '' of option '--callers' (accepted: a function's "
		     "name, or CHUNK:LINE of its definition)",
		     "record", "-p", "1", "--callers=");
	assert_wrong("option '--callers' needs a value (a function's name, or CHUNK:LINE of its "
		     "definition)",
		     "record", "-p", "1", "--callers");
	assert_wrong("'--quiet' excludes '--tree' (it prints no summary)", "record", "-p1", "-q",
		     "--tree");
	assert_wrong("'--interval' excludes '--callers' (there is no summary)", "record", "-p1",
		     "--interval=1m", "--callers=work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_the_summary_is_to_show),
		cmocka_unit_test(takes_words_that_are_numbers_for_processes),
		cmocka_unit_test(takes_a_name_instead_of_a_process),
		cmocka_unit_test(takes_what_hands_type_by_reflex),
		cmocka_unit_test(answers_what_hands_type_by_reflex),
		cmocka_unit_test(answers_what_top_takes_elsewhere),
		cmocka_unit_test(answers_where_threads_and_processes_are),
		cmocka_unit_test(asks_what_to_do_with_a_process),
		cmocka_unit_test(takes_the_options_of_list),
	};

	return cmocka_run_group_tests_name("options by reflex", tests, NULL, NULL);
}
