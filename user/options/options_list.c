/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_list.h"

#include <getopt.h>

#include "options/usage.h"

static const char list_help[] =
	"Examples:\n"
	"  sudo luaspy list             the processes of this host that run Lua\n"
	"  sudo luaspy list --json      for programs\n"
	"\n"
	"Usage: luaspy list [OPTION]...\n"
	"\n"
	"Shows each process that holds an interpreter: whose it is, how much of a CPU it\n"
	"used since its start, which interpreter it is, and its script: the first of its\n"
	"arguments that names a file, or else its command line.\n"
	"\n"
	"An interpreter is recognised by the contents of the files that the process has\n"
	"mapped. One that luaspy cannot profile is shown as 'not supported'. How many\n"
	"processes could not be looked into is told on standard error.\n"
	"\n"
	"Options:\n"
	"      --json     write JSON\n"
	"  -h, --help     show this help\n"
	"\n"
	"Exit status:\n"
	"  0  there are processes that can be profiled\n"
	"  1  it failed\n"
	"  2  the command line is wrong\n"
	"  3  there are none\n";

enum { OPTION_JSON = 256 };

static const struct usage_option accepted[] = {
	{OPTION_JSON, "--json", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

enum options_verdict options_list__help(void)
{
	return usage__print(list_help);
}

enum options_verdict options_list__parse(int argc, char **argv, struct list_options *list)
{
	int letter;

	usage__begin();
	while ((letter = usage__next(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_list__help();
		if (letter != OPTION_JSON)
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		list->json = true;
	}
	return optind < argc ? usage__stray(argv[optind], argv[0]) : OPTIONS_RUN;
}
