/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "layout_puc.h"
#include "options_dump.h"
#include "options_record.h"
#include "usage.h"

static const char dump_help[] =
	"Examples:\n"
	"  sudo luaspy dump -p 1234            where each thread's script is right now\n"
	"  sudo luaspy dump -p 1234 --all      and each coroutine that has yielded\n"
	"  sudo luaspy dump -p 1234 --json     for programs\n"
	"\n"
	"Usage: luaspy dump -p PID [OPTION]...\n"
	"\n"
	"Shows the script call stacks of a running process, all threads, the leaf first,\n"
	"with current lines and what a thread waits in. It is not stopped: a thread that\n"
	"stands still is read where it stands, and taken if it has not run meanwhile;\n"
	"one that runs is sampled for a moment, which needs more privileges.\n"
	"\n"
	"A Lua is found by what is on the threads' stacks; with --all also in memory, by\n"
	"the looks of its main thread, as where a server calls Lua now and then. A stack\n"
	"is shown where a layout is proven, by it or by another one.\n"
	"\n"
	"Options:\n"
	"  -p, --pid=PID      the process to look into\n"
	"  -a, --all          coroutines that are suspended, too\n"
	"      --json         as JSON\n"
	"      --layout=NAME  read its Lua as that of release NAME, such as 5.4.6\n"
	"                     (--layout=help lists them)\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status:\n"
	"  0  there is script, and it was shown\n"
	"  1  it failed\n"
	"  2  the command line is wrong\n"
	"  3  there is nothing to show: no Lua found, or no script on any stack\n";

enum { OPTION_JSON = 256, OPTION_LAYOUT };

static const struct usage_option accepted[] = {
	{'p', "--pid", USAGE_PID},
	{'a', "--all", NULL},
	{OPTION_JSON, "--json", NULL},
	{OPTION_LAYOUT, "--layout", "a release such as 5.4.6, or help, which lists them"},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

/* Takes one option with its value, as getopt_long() left it in optarg. */
static int set_option(int letter, struct dump_command_options *dump)
{
	uint32_t pid;
	int err = 0;

	switch (letter) {
	case 'p':
		err = usage__parse_number(optarg, USAGE_PID_LAST, &pid);
		if (!err)
			dump->pid = (pid_t)pid;
		break;
	case 'a':
		dump->all = true;
		break;
	case OPTION_JSON:
		dump->json = true;
		break;
	case OPTION_LAYOUT:
		dump->layout = optarg;
		err = layout_puc__find(optarg) < 0 ? -EINVAL : 0;
		break;
	}
	return err;
}

enum options_verdict options_dump__help(void)
{
	return usage__print(dump_help);
}

enum options_verdict options_dump__parse(int argc, char **argv, struct dump_command_options *dump)
{
	int letter, err;

	usage__begin();
	while ((letter = usage__next(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_dump__help();
		if (letter == OPTION_LAYOUT && !strcmp(optarg, "help"))
			return options_record__print_layouts();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		err = set_option(letter, dump);
		if (err)
			return usage__refuse_value(accepted, letter, optarg, err);
	}
	if (optind < argc)
		return usage__stray(argv[optind], argv[0]);
	if (dump->pid)
		return OPTIONS_RUN;
	log_error("missing option '--pid': which process? (accepted: %s)", accepted[0].value);
	return OPTIONS_WRONG;
}
