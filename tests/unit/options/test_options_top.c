/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
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

static void takes_a_process_and_defaults(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "top", "-p", "42");
	assert_int_equal(options.command, COMMAND_TOP);
	assert_int_equal(options.top.targets.pids[0], 42);
	assert_int_equal(options.top.sampling.period_ns, 1000000);
	assert_int_equal(options.top.sampling.max_depth, 512);
	assert_int_equal(options.top.sampling.max_overhead_ppm, 0);
	assert_int_equal(options.top.sort, LISTING_RECENT_SELF);
	assert_false(options.top.targets.waits);
	assert_null(options.top.targets.layout);
	assert_int_equal(options.top.average_s, 0);
	assert_int_equal(options.top.hidden, 0);
	assert_int_equal(options.top.view.plugins.count, 0);
}

static void takes_all_options(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "top", "-p1", "-F10khz", "--sort=all-total", "--max-depth=9",
		    "--max-overhead=2%", "--wait", "--layout=5.4.6");
	assert_int_equal(options.top.sampling.max_overhead_ppm, 20000);
	assert_int_equal(options.top.sampling.period_ns, 100000);
	assert_int_equal(options.top.sampling.max_depth, 9);
	assert_int_equal(options.top.sort, LISTING_TOTAL);
	assert_true(options.top.targets.waits);
	assert_string_equal(options.top.targets.layout, "5.4.6");
}

/* As `luaspy record` does. */
static void chooses_among_processes(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "top", "-p", "7,8,7", "--children", "--merge-by", "user");
	assert_int_equal(options.top.targets.pid_count, 2);
	assert_int_equal(options.top.targets.pids[1], 8);
	assert_true(options.top.targets.children);
	assert_int_equal(options.top.targets.merge_by, GROUPING_USER);
	assert_runs(&options, "top", "--system", "--name", "^redis", "--user=0", "--cgroup", "/x");
	assert_true(options.top.targets.system);
	assert_int_equal(options.top.sampling.max_overhead_ppm, 10000);
	assert_string_equal(options.top.targets.criteria.name, "^redis");
	assert_string_equal(options.top.targets.criteria.user, "0");
	assert_string_equal(options.top.targets.criteria.cgroup, "/x");
	assert_wrong(
		"'--system' excludes '--pid' (it records all processes that run an interpreter)",
		"top", "--system", "-p1");
	assert_wrong("'--merge-by' needs several processes ('--system', '--children' or a list of "
		     "'--pid')",
		     "top", "-p1", "--merge-by=name");
	assert_wrong("'--pid' excludes '--name', '--user' and '--cgroup' (they choose among all "
		     "processes)",
		     "top", "-p1", "--name=x");
}

static void takes_numbers_a_name_or_a_command(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "top", "12", "34", "-r", "500", "-s");
	assert_int_equal(options.top.targets.pid_count, 2);
	assert_int_equal(options.top.targets.pids[1], 34);
	assert_int_equal(options.top.sampling.period_ns, 2000000);
	assert_true(options.top.targets.children);
	assert_null(options.top.words);
	assert_runs(&options, "top", "--name=lua");
	assert_true(target_choice__is_by_name(&options.top.targets));
	assert_runs(&options, "top", "-s", "--", "lua5.4", "-i");
	assert_string_equal(options.top.words[0], "lua5.4");
	assert_string_equal(options.top.words[1], "-i");
}

static void takes_what_to_show_at_first(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "top", "1", "--average=5m", "--hide-gc", "--hide-plugins", "--plugin",
		    "*/plugins/*", "--plugin-preset=kong");
	assert_int_equal(options.top.average_s, 300);
	assert_int_equal(options.top.hidden, STATS_HIDDEN_ALL);
	assert_string_equal(options.top.view.plugins.globs[0], "*/plugins/*");
	assert_in_range(options.top.view.plugins.count, 2, PATTERNS_MAX);
	assert_runs(&options, "top", "1", "--average", "60");
	assert_int_equal(options.top.average_s, 60);
	assert_wrong("cannot understand value '2m' of option '--average' (accepted: 1s, 1m, 5m or "
		     "10m)",
		     "top", "1", "--average", "2m");
	assert_wrong("'--hide-plugins' needs '--plugin' or '--plugin-preset', which say what is a "
		     "plugin",
		     "top", "1", "--hide-plugins");
	assert_wrong("cannot understand value 'x' of option '--plugin-preset' (accepted: neovim, "
		     "kong, apisix, prosody)",
		     "top", "1", "--plugin-preset=x");
}

static void refuses_what_it_does_not_take(void **state)
{
	(void)state;
	assert_wrong("missing option '--pid': which process? (accepted: " PID
		     "; or '--name', a command after '--', or '--system')",
		     "top");
	assert_wrong("cannot understand value 'cpu' of option '--sort' (accepted: self, total, "
		     "all-self, all-total or name)",
		     "top", "-p1", "--sort", "cpu");
	assert_wrong("unexpected argument 'x' (a process is given by its PID or by '--name REGEX', "
		     "a command as '-- COMMAND')",
		     "top", "-p1", "x");
	assert_wrong("both a process and a command are given: '-p 1' and 'x' (top watches one of "
		     "them)",
		     "top", "1", "--", "x");
	assert_wrong(
		"'--system' excludes 'COMMAND' (it records all processes that run an interpreter)",
		"top", "--system", "--", "x");
	assert_wrong("unknown option '--srot' (did you mean '--sort'?)", "top", "--srot");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_process_and_defaults),
		cmocka_unit_test(takes_all_options),
		cmocka_unit_test(chooses_among_processes),
		cmocka_unit_test(takes_numbers_a_name_or_a_command),
		cmocka_unit_test(takes_what_to_show_at_first),
		cmocka_unit_test(refuses_what_it_does_not_take),
	};

	return cmocka_run_group_tests_name("options of top", tests, NULL, NULL);
}
