/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "interpreter/family.h"
#include "options/options_live.h"
#include "options/usage.h"

static const char dump_help[] =
	"Examples:\n"
	"  sudo luaspy dump 1234               the call stack of each thread\n"
	"  sudo luaspy dump 1234 --all         and of each suspended coroutine\n"
	"  sudo luaspy dump -p 1234 --json     the same as JSON\n"
	"  sudo luaspy dump --name '^redis'    of the process of that name\n"
	"\n"
	"Usage: luaspy dump -p PID [OPTION]...\n"
	"       luaspy dump --name REGEX [OPTION]...\n"
	"\n"
	"Shows the call stacks of all threads of a running process that are in a script,\n"
	"the leaf first, with current lines and what each thread waits for. It does not\n"
	"stop the process: it reads the stack of a waiting thread, and shows it if the\n"
	"thread did not run meanwhile. It samples a running thread for a moment, which\n"
	"needs more privileges.\n"
	"\n"
	"luaspy finds a VM by the stacks of threads. With --all, it also searches memory\n"
	"for the main threads of VMs: a server may run scripts only now and then. It\n"
	"shows stacks once one of them has proved the layout.\n"
	"\n"
	"Options:\n"
	"  -p, --pid=PID      the process to dump; '-p' may be omitted\n"
	"      --name=REGEX   instead, the only process with an interpreter whose name\n"
	"                     matches, or whose program and script do\n"
	"  -a, --all          show suspended coroutines, too\n"
	"      --json         write JSON\n"
	"      --no-source    do not read source text to name functions: name them by\n"
	"                     bytecode, or as their callers do\n"
	"      --no-command-lines  call the process by its name alone, not by its script\n"
	"                     or command line, which may hold secrets\n"
	"      --layout=NAME  read memory as the interpreter of release NAME has it, such\n"
	"                     as 5.4.6 (--layout=help lists the releases)\n"
	"  -h, --help         show this help\n"
	"\n"
	"Exit status:\n"
	"  0  luaspy showed call stacks\n"
	"  1  luaspy failed\n"
	"  2  the command line is wrong, or several processes fit '--name'\n"
	"  3  nothing to show: no interpreter found, or no script on any stack\n";

enum { OPTION_JSON = 256, OPTION_NO_SOURCE, OPTION_NO_COMMAND_LINES, OPTION_LAYOUT };

static const struct usage_option accepted[] = {
	{'p', "--pid", USAGE_PID},
	TARGET_CHOICE_NAMING,
	{'a', "--all", NULL},
	{OPTION_JSON, "--json", NULL},
	{OPTION_NO_SOURCE, "--no-source", NULL},
	{OPTION_NO_COMMAND_LINES, "--no-command-lines", NULL},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

/* Takes one option with its value, as getopt_long() left it in optarg. */
static int set_option(int letter, struct dump_command_options *dump)
{
	int error = target_choice__set_one(&dump->pid, &dump->criteria, letter, optarg);

	if (error != -ENOTSUP)
		return error;
	error = 0;
	switch (letter) {
	case 'a':
		dump->all = true;
		break;
	case OPTION_JSON:
		dump->json = true;
		break;
	case OPTION_NO_SOURCE:
		dump->no_source = true;
		break;
	case OPTION_NO_COMMAND_LINES:
		dump->no_command_lines = true;
		break;
	case OPTION_LAYOUT:
		dump->layout = optarg;
		error = layout__find(optarg, NULL) ? -EINVAL : 0;
		break;
	}
	return error;
}

enum options_verdict options_dump__help(void)
{
	return usage__print(dump_help);
}

enum options_verdict options_dump__parse(int argc, char **argv, struct dump_command_options *dump)
{
	int letter, error;

	usage__begin();
	while ((letter = usage__next_or_pid(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_dump__help();
		if (letter == OPTION_LAYOUT && !strcmp(optarg, "help"))
			return options_record__print_layouts();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		if ((letter == 'p' || letter == USAGE_WORD) && dump->pid)
			return usage__second_process(optarg, argv[0]);
		error = set_option(letter, dump);
		if (error && (letter == 'p' || letter == USAGE_WORD))
			return usage__refuse_pid(optarg, error);
		if (error)
			return usage__refuse_value(accepted, letter, optarg, error);
	}
	if (optind < argc)
		return usage__stray_word(argv[optind], false);
	if (target_choice__check_one(dump->pid, &dump->criteria))
		return OPTIONS_WRONG;
	if (dump->pid || dump->criteria.name)
		return OPTIONS_RUN;
	log_error("missing option '--pid': which process? (accepted: %s; or '--name')",
		  accepted[0].value);
	return OPTIONS_WRONG;
}
