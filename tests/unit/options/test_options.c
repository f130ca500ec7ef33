/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how the command line is parsed into options. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "accepted.h"
#include "options/options.h"
#include "parsing.h"
#include "puc/layout_puc.h"

static void a_pid_is_enough(void **state)
{
	struct options options;

	(void)state;
	memset(&options, 0xff, sizeof(options));
	assert_runs(&options, "record", "-p", "1234");
	assert_int_equal(options.command, COMMAND_RECORD);
	assert_int_equal(options.record.targets.pids[0], 1234);
	assert_int_equal(options.record.duration_ns, 0);
	assert_int_equal(options.record.sampling.period_ns, 1000000);
	assert_int_equal(options.record.sampling.max_depth, 512);
	assert_int_equal(options.record.lines, 0);
	assert_int_equal(options.record.outputs.count, 0);
	assert_int_equal(options.record.log_level, LOG_INFO);
	assert_null(options.record.targets.layout);
	assert_int_equal(options.record.targets.waits, false);
	assert_int_equal(options.record.category, CATEGORY_THREAD);
}

static void takes_a_layout_by_its_name_or_by_a_release(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p", "1", "--layout", "5.4.3-5.4.9", "--wait");
	assert_string_equal(options.record.targets.layout, "5.4.3-5.4.9");
	assert_int_equal(options.record.targets.waits, true);
	assert_runs(&options, "record", "-p", "1", "--layout=5.1.4");
	assert_string_equal(options.record.targets.layout, "5.1.4");
	assert_int_equal(layout_puc__find("5.1.4"), layout_puc__find("5.1-5.1.5"));
	assert_int_equal(layout_puc__find("5.4.6"), layout_puc__find("5.4.3-5.4.9"));
	assert_int_equal(layout_puc__find("5.4.6x"), -ENOENT);
	assert_int_equal(layout_puc__find("5.4.66"), -ENOENT);
	assert_int_equal(layout_puc__find("5.4"), -ENOENT);
	assert_int_equal(layout_puc__find(""), -ENOENT);
}

static void takes_patterns_of_plugins_and_presets(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "--plugin", "*/a/*", "--plugin=b",
		    "--plugin-preset=kong");
	assert_string_equal(options.record.view.plugins.globs[0], "*/a/*");
	assert_string_equal(options.record.view.plugins.globs[1], "b");
	assert_string_equal(options.record.view.plugins.globs[2], "*/kong/plugins/*");
	assert_wrong("unknown preset in 'kong,vim' (accepted: neovim, kong, apisix, prosody)",
		     "record", "-p1", "--plugin-preset", "kong,vim");
	assert_wrong("cannot understand value '' of option '--plugin' (accepted: a pattern such "
		     "as '*/plugins/*')",
		     "record", "-p1", "--plugin=");
}

static void takes_patterns_of_what_to_ignore(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "--ignore", "a", "--ignore=[C]:*");
	assert_int_equal(options.record.view.ignored.count, 2);
	assert_string_equal(options.record.view.ignored.globs[1], "[C]:*");
	assert_runs(&options, "record", "-p1", "--coroutine", "app.lua:3");
	assert_int_equal(options.record.view.coroutines.count, 1);
	assert_string_equal(options.record.view.coroutines.globs[0], "app.lua:3");
	assert_wrong("cannot understand value '' of option '--ignore' (accepted: a function's "
		     "name, its chunk, CHUNK:NAME or CHUNK:LINE, or a pattern of it)",
		     "record", "-p1", "--ignore=");
}

static void takes_when_to_start_and_how_many_samples(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "--start-after", "1.5s", "--until-samples=20000");
	assert_int_equal(options.record.start_after_ns, 1500000000);
	assert_int_equal(options.record.until_samples, 20000);
	assert_runs(&options, "record", "-p1");
	assert_int_equal(options.record.start_after_ns, 0);
	assert_int_equal(options.record.until_samples, 0);
	assert_wrong("out of range: value '0' of option '--until-samples' (accepted: a number of "
		     "samples, 1 to 1000000000)",
		     "record", "-p1", "--until-samples=0");
	assert_wrong("cannot understand value 'x' of option '--start-after' (accepted: " DURATION
		     ")",
		     "record", "-p1", "--start-after", "x");
}

static void strict_has_nothing_of_its_own(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "--strict");
	assert_int_equal(options.record.strict, true);
	assert_wrong("'--strict' excludes '--lines' (CurrentLine is luaspy's own field)", "record",
		     "-p1", "--lines", "--strict");
	assert_wrong("'--strict' excludes '--timeline' (Samples is luaspy's own field)", "record",
		     "-p1", "--strict", "--timeline");
	assert_runs(&options, "record", "-p1", "--timeline");
	assert_int_equal(options.record.timeline, true);
}

static void takes_every_option_in_its_short_form(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-qp42", "-d", "1.5s", "-F10khz", "-o", "-");
	assert_int_equal(options.record.targets.pids[0], 42);
	assert_int_equal(options.record.duration_ns, 1500000000);
	assert_int_equal(options.record.sampling.period_ns, 100000);
	assert_int_equal(options.record.outputs.count, 1);
	assert_string_equal(options.record.outputs.files[0].path, "-");
	assert_int_equal(options.record.log_level, LOG_ERROR);
}

static void takes_every_option_in_its_long_form(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "--pid", "4194304", "--duration=500ms", "--frequency",
		    "250hz", "--max-depth=4096", "--lines", "--output", "x.json", "--verbose");
	assert_int_equal(options.record.targets.pids[0], 4194304);
	assert_int_equal(options.record.duration_ns, 500000000);
	assert_int_equal(options.record.sampling.period_ns, 4000000);
	assert_int_equal(options.record.sampling.max_depth, 4096);
	assert_int_equal(options.record.lines, 1);
	assert_string_equal(options.record.outputs.files[0].path, "x.json");
	assert_int_equal(options.record.log_level, LOG_DEBUG);
}

static void takes_several_processes(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p", "1,22 333,22");
	assert_int_equal(options.record.targets.pid_count, 3);
	assert_int_equal(options.record.targets.pids[0], 1);
	assert_int_equal(options.record.targets.pids[2], 333);
	assert_int_equal(options.record.category, CATEGORY_PROCESS);
	assert_runs(&options, "record", "-p7", "--children");
	assert_int_equal(options.record.targets.children, 1);
	assert_int_equal(options.record.category, CATEGORY_PROCESS);
	assert_runs(&options, "record", "-p7,8", "--category=thread");
	assert_int_equal(options.record.category, CATEGORY_THREAD);
	assert_runs(&options, "record", "-p7");
	assert_int_equal(options.record.category, CATEGORY_THREAD);
}

static void command_lines_may_be_left_alone(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p7");
	assert_false(options.record.targets.no_command_lines);
	assert_runs(&options, "record", "-p7", "--no-command-lines");
	assert_true(options.record.targets.no_command_lines);
	assert_runs(&options, "top", "--no-command-lines", "--system");
	assert_true(options.top.targets.no_command_lines);
	assert_runs(&options, "dump", "-p7", "--no-command-lines");
	assert_true(options.dump.no_command_lines);
	assert_runs(&options, "check", "--no-command-lines", "-v", "7");
	assert_true(options.check.no_command_lines);
	assert_int_equal(options.check.log_level, LOG_DEBUG);
	assert_runs(&options, "list");
	assert_false(options.list.no_command_lines);
	assert_runs(&options, "list", "--no-command-lines");
	assert_true(options.list.no_command_lines);
	assert_false(options.list.json);
}

static void the_last_of_two_counts(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "-qv", "-d1", "-d2", "--max-depth=1",
		    "--max-depth=2");
	assert_int_equal(options.record.duration_ns, 2000000000);
	assert_int_equal(options.record.sampling.max_depth, 2);
	assert_int_equal(options.record.log_level, LOG_DEBUG);
}

static void takes_a_fifo_for_answers_with_one_for_commands(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p1", "--control=a", "--control-ack=b");
	assert_string_equal(options.record.control, "a");
	assert_string_equal(options.record.control_ack, "b");
	assert_wrong("'--control-ack' needs '--control': there is nothing to answer", "record",
		     "-p1", "--control-ack=b");
}

static void takes_a_command_after_two_dashes(void **state)
{
	char *argv[] = {(char *)"luaspy", (char *)"record", (char *)"-d1", (char *)"--",
			(char *)"lua",    (char *)"-p",     (char *)"x",   NULL};
	struct options options;

	(void)state;
	assert_int_equal(options__parse(7, argv, &options), OPTIONS_RUN);
	assert_string_equal(options.record.words[0], "lua");
	assert_string_equal(options.record.words[1], "-p");
	assert_string_equal(options.record.words[2], "x");
	assert_null(options.record.words[3]);
	assert_int_equal(options.record.targets.pids[0], 0);
}

static void takes_the_options_of_dump(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "dump", "-p", "42");
	assert_int_equal(options.command, COMMAND_DUMP);
	assert_int_equal(options.dump.pid, 42);
	assert_false(options.dump.all);
	assert_false(options.dump.json);
	assert_null(options.dump.layout);
	assert_runs(&options, "dump", "-ap", "1", "--json", "--layout=5.4.6");
	assert_int_equal(options.dump.pid, 1);
	assert_true(options.dump.all);
	assert_true(options.dump.json);
	assert_string_equal(options.dump.layout, "5.4.6");
}

static void takes_pauses_and_a_fifo(void **state)
{
	struct options options;

	(void)state;
	assert_runs(&options, "record", "-p", "1");
	assert_false(options.record.is_paused);
	assert_null(options.record.control);
	assert_runs(&options, "record", "-p", "1", "--paused", "--control=fifo");
	assert_true(options.record.is_paused);
	assert_string_equal(options.record.control, "fifo");
	assert_wrong("cannot understand value '' of option '--control' (accepted: the name of a "
		     "FIFO, which need not exist)",
		     "record", "-p", "1", "--control=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pid_is_enough),
		cmocka_unit_test(takes_a_layout_by_its_name_or_by_a_release),
		cmocka_unit_test(takes_patterns_of_plugins_and_presets),
		cmocka_unit_test(takes_patterns_of_what_to_ignore),
		cmocka_unit_test(takes_when_to_start_and_how_many_samples),
		cmocka_unit_test(strict_has_nothing_of_its_own),
		cmocka_unit_test(takes_every_option_in_its_short_form),
		cmocka_unit_test(takes_every_option_in_its_long_form),
		cmocka_unit_test(takes_several_processes),
		cmocka_unit_test(command_lines_may_be_left_alone),
		cmocka_unit_test(the_last_of_two_counts),
		cmocka_unit_test(takes_a_fifo_for_answers_with_one_for_commands),
		cmocka_unit_test(takes_a_command_after_two_dashes),
		cmocka_unit_test(takes_the_options_of_dump),
		cmocka_unit_test(takes_pauses_and_a_fifo),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
