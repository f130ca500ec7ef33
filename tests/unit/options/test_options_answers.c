/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what luaspy prints instead of running: errors in its arguments, help, its version. */
#include <fcntl.h>
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
#include "captured.h"
#include "options/options.h"
#include "parsing.h"

/* The caller frees. */
static char *assert_printed(const char *first, const char *second)
{
	struct options options;
	char *out, *err;

	assert_int_equal(parsing__run(&options, &out, &err, first, second, NULL), OPTIONS_DONE);
	assert_string_equal(err, "");
	free(err);
	return out;
}

#define OUTPUT "a file name, or - for standard output"

#define NO_PROCESS "(a process is given by its PID or by '--name REGEX'"
#define NO_TARGET  NO_PROCESS ", a command as '-- COMMAND')"

static void refuses_too_many_patterns(void **state)
{
	char *argv[3 + 65 + 1] = {(char *)"luaspy", (char *)"record", (char *)"-p1"};
	struct captured captured;
	struct options options;
	char *err;

	(void)state;
	for (int i = 3; i < 3 + 65; i++)
		argv[i] = (char *)"--ignore=x";
	assert_int_equal(options__parse(3 + 64, argv, &options), OPTIONS_RUN);
	captured__start(&captured, STDERR_FILENO);
	assert_int_equal(options__parse(3 + 65, argv, &options), OPTIONS_WRONG);
	err = captured__end(&captured);
	assert_string_equal(err, "luaspy: too many patterns: 'x' is one more than 64\n");
	free(err);
}

static void says_which_values_are_accepted(void **state)
{
	(void)state;
	assert_wrong("cannot understand value 'lua5.4' of option '--pid' (accepted: " PID
		     "; '--name' finds a process by its name)",
		     "record", "-p", "lua5.4");
	assert_wrong("cannot understand value '' of option '--pid' (accepted: " PID ")", "record",
		     "-p", "");
	assert_wrong("cannot understand value '-5' of option '--pid' (accepted: " PID ")", "record",
		     "-p", "-5");
	assert_wrong("cannot understand value '12x' of option '--pid' (accepted: " PID ")",
		     "record", "--pid=12x");
	assert_wrong("out of range: value '0' of option '--pid' (accepted: " PID ")", "record",
		     "-p0");
	assert_wrong("out of range: value '4194305' of option '--pid' (accepted: " PID ")",
		     "record", "-p4194305");
	assert_wrong("out of range: value '18446744073709551617' of option '--pid' (accepted: " PID
		     ")",
		     "record", "-p18446744073709551617");
	assert_wrong("cannot understand value 'long' of option '--duration' (accepted: " DURATION
		     ")",
		     "record", "-p1", "-d", "long");
	assert_wrong("out of range: value '0s' of option '--duration' (accepted: " DURATION ")",
		     "record", "-p1", "-d0s");
	assert_wrong("out of range: value '20001' of option '--frequency' (accepted: " FREQUENCY
		     ")",
		     "record", "-p1", "-F", "20001");
	assert_wrong("cannot understand value '1mhz' of option '--frequency' (accepted: " FREQUENCY
		     ")",
		     "record", "-p1", "--frequency=1mhz");
	assert_wrong("out of range: value '4097' of option '--max-depth' (accepted: " DEPTH ")",
		     "record", "-p1", "--max-depth", "4097");
	assert_wrong("out of range: value '0' of option '--max-depth' (accepted: " DEPTH ")",
		     "record", "-p1", "--max-depth=0");
	assert_wrong("cannot understand value '' of option '--output' (accepted: " OUTPUT ")",
		     "record", "-p1", "-o", "");
}

static void says_which_option_needs_or_takes_no_value(void **state)
{
	(void)state;
	assert_wrong("option '--pid' needs a value (" PID ")", "record", "-p");
	assert_wrong("option '--pid' needs a value (" PID ")", "record", "--pid");
	assert_wrong("cannot understand value 'vm' of option '--category' (accepted: thread, "
		     "process, state or chunk)",
		     "record", "-p1", "--category", "vm");
	assert_wrong("option '--max-depth' needs a value (" DEPTH ")", "record", "-p1",
		     "--max-depth");
	assert_wrong("option '--frequency' needs a value (" FREQUENCY ")", "record", "-qF");
	assert_wrong("option '--quiet' takes no value, but got '1'", "record", "--quiet=1");
	assert_wrong("option '--help' takes no value, but got ''", "record", "--help=");
}

static void names_unknown_options(void **state)
{
	(void)state;
	assert_wrong("unknown option '-x' (see 'luaspy record --help')", "record", "-x");
	assert_wrong("unknown option '-x' (see 'luaspy record --help')", "record", "-p1", "-qxv");
	assert_wrong("unknown option '--speed=3' (see 'luaspy record --help')", "record", "-p1",
		     "--speed=3");
	assert_wrong("unknown option '--frequencey=9' (did you mean '--frequency'?)", "record",
		     "--frequencey=9");
	assert_wrong("unknown option '--depth' (see 'luaspy record --help')", "record", "--depth");
	assert_wrong("unknown option '--time' (see 'luaspy --help')", "--time");
	assert_wrong("unknown option '--verison' (did you mean '--version'?)", "--verison");
}

static void wants_a_pid(void **state)
{
	(void)state;
	assert_wrong("missing option '--pid': which process? (accepted: " PID
		     "; or '--name', a command after '--', or '--system')",
		     "record");
	assert_wrong("missing option '--pid': which process? (accepted: " PID
		     "; or '--name', a command after '--', or '--system')",
		     "record", "-d1", "--");
}

static void refuses_what_dump_does_not_take(void **state)
{
	(void)state;
	assert_wrong("missing option '--pid': which process? (accepted: " PID "; or '--name')",
		     "dump");
	assert_wrong("unknown option '--alll' (did you mean '--all'?)", "dump", "--alll");
	assert_wrong("option '--json' takes no value, but got '1'", "dump", "--json=1");
	assert_wrong("option '--pid' needs a value (" PID ")", "dump", "-p");
	assert_wrong("out of range: value '0' of option '--pid' (accepted: " PID ")", "dump", "-p",
		     "0");
	assert_wrong("unexpected argument 'x' " NO_PROCESS ")", "dump", "-p", "1", "x");
	assert_wrong("'--pid' excludes '--name' (it chooses among all processes)", "dump", "1",
		     "--name=x");
	assert_wrong("unknown option '--duration=1' (see 'luaspy dump --help')", "dump",
		     "--duration=1");
}

static void refuses_stray_arguments(void **state)
{
	(void)state;
	assert_wrong("unexpected argument 'lua5.4' " NO_TARGET, "record", "lua5.4");
	assert_wrong("unexpected argument '12x' " NO_TARGET, "record", "12x");
	assert_wrong("unexpected argument 'x' " NO_TARGET, "record", "-p1", "x", "-d", "nonsense");
	assert_wrong("both a process and a command are given: '-p 1' and '-d' (one session records "
		     "one of them)",
		     "record", "-p1", "--", "-d");
	assert_wrong("unexpected argument '' " NO_TARGET, "record", "-p1", "");
	assert_wrong("both a process and a command are given: '-p 1' and '2' (one session records "
		     "one of them)",
		     "record", "1", "--", "2");
	assert_wrong("unexpected argument 'x' after 'luaspy --version' (see 'luaspy help')",
		     "--version", "x");
	assert_wrong("unexpected argument 'x' after 'luaspy help COMMAND' (see 'luaspy help')",
		     "help", "record", "x");
}

static void suggests_the_command_that_was_meant(void **state)
{
	(void)state;
	assert_wrong("unknown command 'recrod' (did you mean 'record'?)", "recrod", "-p", "1");
	assert_wrong("unknown command 'rec' (did you mean 'record'?)", "rec");
	assert_wrong("unknown command 'hlep' (did you mean 'help'?)", "hlep");
	assert_wrong("unknown command 'halp' (did you mean 'help'?)", "halp");
	assert_wrong("unknown command 'version' (did you mean '--version'?)", "version");
	assert_wrong("unknown command 'foo' (see 'luaspy --help')", "foo");
	assert_wrong("unknown command '' (see 'luaspy --help')", "");
	assert_wrong("unknown command 'recrod' (did you mean 'record'?)", "help", "recrod");
	assert_wrong("missing command (try 'luaspy record -p PID', or see 'luaspy --help')", NULL);
}

static void escapes_what_it_repeats(void **state)
{
	(void)state;
	assert_wrong("unknown command '\\x1b[2J\\x0a' (see 'luaspy --help')", "\033[2J\n");
	assert_wrong("unknown option '-\\xc3' (see 'luaspy record --help')", "record", "-\xc3\xa9");
	assert_wrong("cannot understand value '\\x07' of option '--pid' (accepted: " PID ")",
		     "record", "-p\a");
}

static void survives_endless_words(void **state)
{
	struct options options;
	char *out, *err, *word = calloc(1, 100001);

	(void)state;
	assert_non_null(word);
	memset(word, '-', 100000);
	assert_int_equal(parsing__run(&options, &out, &err, word, NULL), OPTIONS_WRONG);
	free(out);
	free(err);
	assert_int_equal(parsing__run(&options, &out, &err, "record", word, NULL), OPTIONS_WRONG);
	free(out);
	free(err);
	free(word);
}

static void assert_help(const char *first, const char *second, const char *usage, size_t statuses)
{
	char *help = assert_printed(first, second), *rest = help;
	static const char *const in_order[] = {"Examples:\n", NULL,    "Exit status:\n", "  0  ",
					       "  1  ",       "  2  ", "  3  "};

	assert_ptr_equal(strstr(help, "Examples:\n"), help);
	for (size_t i = 0; i < 3 + statuses; i++) {
		rest = strstr(rest, in_order[i] ? in_order[i] : usage);
		assert_non_null(rest);
	}
	for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(strlen(line), 1, 80);
	free(help);
}

static void helps_in_80_columns(void **state)
{
	(void)state;
	assert_help("--help", NULL, "Usage: luaspy COMMAND", 4);
	assert_help("-h", NULL, "Usage: luaspy COMMAND", 4);
	assert_help("help", NULL, "Usage: luaspy COMMAND", 4);
	assert_help("record", "--help", "Usage: luaspy record -p PID", 4);
	assert_help("record", "-h", "Usage: luaspy record -p PID", 4);
	assert_help("dump", "--help", "Usage: luaspy dump ", 4);
	assert_help("check", "--help", "Usage: luaspy check ", 4);
	assert_help("list", "--help", "Usage: luaspy list ", 4);
	assert_help("help", "list", "Usage: luaspy list ", 4);
	assert_help("help", "--help", "Usage: luaspy COMMAND", 4);
	assert_help("top", "--help", "Usage: luaspy top ", 4);
	assert_help("help", "top", "Usage: luaspy top ", 4);
	assert_help("help", "record", "Usage: luaspy record -p PID", 4);
	assert_help("help", "report", "Usage: luaspy report ", 3);
	assert_help("help", "open", "Usage: luaspy open ", 3);
	assert_help("help", "convert", "Usage: luaspy convert ", 3);
	assert_help("help", "merge", "Usage: luaspy merge ", 3);
	assert_help("help", "trim", "Usage: luaspy trim ", 3);
	assert_help("help", "diff", "Usage: luaspy diff ", 3);
}

static void help_names_every_option_and_default(void **state)
{
	static const char *const expected[] = {
		"--category=",  "-p, --pid=",      "-d, --duration=", "-F, --frequency=",
		"--max-depth=", "-o, --output=",   "-q, --quiet",     "-v, --verbose",
		"-h, --help",   "(default: 1000)", "1 to 4096",       "(default: 512)"};
	char *help = assert_printed("record", "--help");

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_non_null(strstr(help, expected[i]));
	free(help);
}

static void tells_its_version(void **state)
{
	char *version = assert_printed("--version", NULL);
	static const char *const others[][2] = {
		{"-V", NULL}, {"help", "--version"}, {"help", "-V"}};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char *again = assert_printed(others[i][0], others[i][1]);

		assert_string_equal(again, version);
		free(again);
	}
	assert_memory_equal(version, "luaspy ", 7);
	assert_in_range(strlen(version), 9, 80);
	assert_ptr_equal(strchr(version, '\n'), version + strlen(version) - 1);
	free(version);
}

static void a_full_disk_is_a_failure(void **state)
{
	struct captured captured;
	struct options options;
	char *argv[] = {(char *)"luaspy", (char *)"--help", NULL}, *err;
	enum options_verdict vote;
	int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);

	(void)state;
	assert_return_code(full, 0);
	fflush(stdout);
	captured__start(&captured, STDERR_FILENO);
	dup2(full, STDOUT_FILENO);
	vote = options__parse(2, argv, &options);
	dup2(saved, STDOUT_FILENO);
	clearerr(stdout);
	err = captured__end(&captured);
	close(saved);
	close(full);
	assert_int_equal(vote, OPTIONS_FAILED);
	assert_string_equal(err,
			    "luaspy: cannot write to standard output: No space left on device\n");
	free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_too_many_patterns),
		cmocka_unit_test(says_which_values_are_accepted),
		cmocka_unit_test(says_which_option_needs_or_takes_no_value),
		cmocka_unit_test(names_unknown_options),
		cmocka_unit_test(wants_a_pid),
		cmocka_unit_test(refuses_what_dump_does_not_take),
		cmocka_unit_test(refuses_stray_arguments),
		cmocka_unit_test(suggests_the_command_that_was_meant),
		cmocka_unit_test(escapes_what_it_repeats),
		cmocka_unit_test(survives_endless_words),
		cmocka_unit_test(helps_in_80_columns),
		cmocka_unit_test(help_names_every_option_and_default),
		cmocka_unit_test(tells_its_version),
		cmocka_unit_test(a_full_disk_is_a_failure),
	};

	return cmocka_run_group_tests_name("options: answers", tests, NULL, NULL);
}
